/**
 * The plugins of the Worker: those that need no files and no sockets, and few octets, for what is
 * not named here is not in its bundle.
 * @module
 */
import { setupAcl } from './acl.ts'
import { setupAny } from './any.ts'
import { setupBufsize } from './bufsize.ts'
import { setupCache } from './cache/setup.ts'
import { setupCancel } from './cancel.ts'
import { setupErrors } from './errors.ts'
import { setupForward } from './forward/setup.ts'
import { setupHeader } from './header.ts'
import { setupHosts } from './hosts.ts'
import { setupKubernetes } from './kubernetes/setup.ts'
import { setupLoadbalance } from './loadbalance/setup.ts'
import { setupLog } from './log/setup.ts'
import { setupMinimal } from './minimal.ts'
import { setupNsid } from './nsid.ts'
import { setupPrometheus } from './prometheus.ts'
import { type PluginSet, pluginSet } from './registry.ts'
import { setupRewrite } from './rewrite/setup.ts'
import { setupWhoami } from './whoami.ts'

/** The plugins of the Worker. */
export const EDGE_PLUGINS: PluginSet = pluginSet({
  acl: setupAcl,
  any: setupAny,
  bufsize: setupBufsize,
  cache: setupCache,
  cancel: setupCancel,
  errors: setupErrors,
  forward: setupForward,
  header: setupHeader,
  hosts: setupHosts,
  kubernetes: setupKubernetes,
  loadbalance: setupLoadbalance,
  log: setupLog,
  minimal: setupMinimal,
  nsid: setupNsid,
  prometheus: setupPrometheus,
  rewrite: setupRewrite,
  whoami: setupWhoami,
})
