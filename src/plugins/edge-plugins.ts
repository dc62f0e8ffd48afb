/**
 * The plugins of the Worker: those that need no files and no sockets. A plugin that is not named
 * here is not in the Worker's bundle.
 * @module
 */
import { setupAcl } from './acl.ts'
import { setupAny } from './any.ts'
import { setupBufsize } from './bufsize.ts'
import { setupCache } from './cache/setup.ts'
import { setupChaos } from './chaos.ts'
import { setupDns64 } from './dns64.ts'
import { setupErratic } from './erratic.ts'
import { setupErrors } from './errors.ts'
import { setupForward } from './forward/setup.ts'
import { setupHeader } from './header.ts'
import { setupHosts } from './hosts.ts'
import { setupKubernetes } from './kubernetes/setup.ts'
import { setupLoadbalance } from './loadbalance/setup.ts'
import { setupLocal } from './local.ts'
import { setupLog } from './log/setup.ts'
import { setupMetadata } from './metadata.ts'
import { setupMinimal } from './minimal.ts'
import { setupNsid } from './nsid.ts'
import { setupPrometheus } from './prometheus.ts'
import { type PluginSet, pluginSet } from './registry.ts'
import { setupRewrite } from './rewrite/setup.ts'
import { setupTemplate } from './template/setup.ts'
import { setupView } from './view.ts'
import { setupWhoami } from './whoami.ts'

/** The plugins of the Worker. */
export const EDGE_PLUGINS: PluginSet = pluginSet({
  log: setupLog,
  whoami: setupWhoami,
  view: setupView,
  template: setupTemplate,
  nsid: setupNsid,
  metadata: setupMetadata,
  local: setupLocal,
  header: setupHeader,
  erratic: setupErratic,
  dns64: setupDns64,
  chaos: setupChaos,
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
