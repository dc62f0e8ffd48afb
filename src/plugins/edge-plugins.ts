/**
 * The plugins of the Worker: those that need no files and no sockets. A plugin that is not named
 * here is not in the Worker's bundle.
 * @module
 */

import { type PluginSet, pluginSet } from '../chain/registry.ts'
import { setupAcl } from './acl/acl.ts'
import { setupAny } from './any/any.ts'
import { setupBufsize } from './bufsize/bufsize.ts'
import { setupCache } from './cache/setup.ts'
import { setupChaos } from './chaos/chaos.ts'
import { setupDns64 } from './dns64/dns64.ts'
import { setupErratic } from './erratic/erratic.ts'
import { setupErrors } from './errors/errors.ts'
import { setupForward } from './forward/setup.ts'
import { setupHeader } from './header/header.ts'
import { setupHosts } from './hosts/hosts.ts'
import { setupKubernetes } from './kubernetes/setup.ts'
import { setupLoadbalance } from './loadbalance/setup.ts'
import { setupLocal } from './local/local.ts'
import { setupLog } from './log/setup.ts'
import { setupMetadata } from './metadata/metadata.ts'
import { setupMinimal } from './minimal/minimal.ts'
import { setupNsid } from './nsid/nsid.ts'
import { setupPrometheus } from './prometheus/prometheus.ts'
import { setupRewrite } from './rewrite/setup.ts'
import { setupTemplate } from './template/setup.ts'
import { setupView } from './view/view.ts'
import { setupWhoami } from './whoami/whoami.ts'

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
