/**
 * The plugins of the Worker: those that need no files and no sockets, and few octets, for what is
 * not named here is not in its bundle.
 * @module
 */
import { setupAcl } from './acl.ts'
import { setupAny } from './any.ts'
import { setupBufsize } from './bufsize.ts'
import { setupCache } from './cache/setup.ts'
import { setupErrors } from './errors.ts'
import { setupForward } from './forward/setup.ts'
import { setupHosts } from './hosts.ts'
import { setupKubernetes } from './kubernetes/setup.ts'
import { setupLoadbalance } from './loadbalance/setup.ts'
import { setupMinimal } from './minimal.ts'
import { setupPrometheus } from './prometheus.ts'
import { type PluginSet, pluginSet } from './registry.ts'
import { setupRewrite } from './rewrite/setup.ts'

/** The plugins of the Worker. */
export const EDGE_PLUGINS: PluginSet = pluginSet({
  acl: setupAcl,
  any: setupAny,
  bufsize: setupBufsize,
  cache: setupCache,
  errors: setupErrors,
  forward: setupForward,
  hosts: setupHosts,
  kubernetes: setupKubernetes,
  loadbalance: setupLoadbalance,
  minimal: setupMinimal,
  prometheus: setupPrometheus,
  rewrite: setupRewrite,
})
