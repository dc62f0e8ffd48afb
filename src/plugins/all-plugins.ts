/**
 * All plugins, for servers on Node.
 * @module
 */
import { setupAcl } from './acl.ts'
import { setupAny } from './any.ts'
import { setupAuto } from './auto/setup.ts'
import { setupAutopath } from './autopath.ts'
import { setupBind } from './bind.ts'
import { setupBufsize } from './bufsize.ts'
import { setupCache } from './cache/setup.ts'
import { setupCancel } from './cancel.ts'
import { setupChaos } from './chaos.ts'
import { setupDebug } from './debug.ts'
import { setupDns64 } from './dns64.ts'
import { setupDnssec } from './dnssec/setup.ts'
import { setupDnstap } from './dnstap/setup.ts'
import { setupErratic } from './erratic.ts'
import { setupErrors } from './errors.ts'
import { setupEtcd } from './etcd/setup.ts'
import { setupFile } from './file/setup.ts'
import { setupForward } from './forward/setup.ts'
import { setupGeoip } from './geoip/setup.ts'
import { setupHeader } from './header.ts'
import { setupHealth } from './health.ts'
import { setupHosts } from './hosts.ts'
import { setupHttps } from './https.ts'
import { setupExternal } from './k8s-external/setup.ts'
import { setupGateway } from './k8s-gateway/setup.ts'
import { setupKubernetesForPeers } from './kubernetes/peer-parts.ts'
import { setupLoadbalance } from './loadbalance/setup.ts'
import { setupLocal } from './local.ts'
import { setupLog } from './log/setup.ts'
import { setupLoop } from './loop.ts'
import { setupMetadata } from './metadata.ts'
import { setupMinimal } from './minimal.ts'
import { setupMultisocket } from './multisocket.ts'
import { setupNsid } from './nsid.ts'
import type { Setup } from './plugin.ts'
import { setupPrometheus } from './prometheus.ts'
import { setupReady } from './ready.ts'
import { type PluginSet, pluginSet } from './registry.ts'
import { setupReload } from './reload.ts'
import { setupRewrite } from './rewrite/setup.ts'
import { setupRoot } from './root.ts'
import { setupSecondary } from './secondary/setup.ts'
import { setupShed } from './shed.ts'
import { setupTemplate } from './template/setup.ts'
import { setupTimeouts } from './timeouts.ts'
import { setupTls } from './tls.ts'
import { setupTrace } from './trace/setup.ts'
import { setupTransfer } from './transfer/setup.ts'
import { setupTsig } from './tsig/setup.ts'
import { setupView } from './view.ts'
import { setupWhoami } from './whoami.ts'

const SETUPS: Readonly<Record<string, Setup>> = {
  acl: setupAcl,
  any: setupAny,
  auto: setupAuto,
  autopath: setupAutopath,
  bind: setupBind,
  bufsize: setupBufsize,
  cache: setupCache,
  cancel: setupCancel,
  chaos: setupChaos,
  debug: setupDebug,
  dns64: setupDns64,
  dnssec: setupDnssec,
  dnstap: setupDnstap,
  erratic: setupErratic,
  errors: setupErrors,
  etcd: setupEtcd,
  file: setupFile,
  forward: setupForward,
  geoip: setupGeoip,
  header: setupHeader,
  health: setupHealth,
  hosts: setupHosts,
  https: setupHttps,
  k8s_external: setupExternal,
  k8s_gateway: setupGateway,
  kubernetes: setupKubernetesForPeers,
  loadbalance: setupLoadbalance,
  local: setupLocal,
  log: setupLog,
  loop: setupLoop,
  metadata: setupMetadata,
  minimal: setupMinimal,
  multisocket: setupMultisocket,
  nsid: setupNsid,
  prometheus: setupPrometheus,
  ready: setupReady,
  reload: setupReload,
  rewrite: setupRewrite,
  root: setupRoot,
  secondary: setupSecondary,
  shed: setupShed,
  timeouts: setupTimeouts,
  tls: setupTls,
  trace: setupTrace,
  transfer: setupTransfer,
  template: setupTemplate,
  tsig: setupTsig,
  view: setupView,
  whoami: setupWhoami,
}

/** All plugins. */
export const ALL_PLUGINS: PluginSet = pluginSet(SETUPS)
