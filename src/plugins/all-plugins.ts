/**
 * All plugins, for servers on Node.
 * @module
 */

import { type PluginSet, pluginSet } from '../chain/registry.ts'
import type { Setup } from '../chain/setup.ts'
import { setupAcl } from './acl/acl.ts'
import { setupAny } from './any/any.ts'
import { setupAuto } from './auto/setup.ts'
import { setupAutopath } from './autopath/autopath.ts'
import { setupBind } from './bind/bind.ts'
import { setupBufsize } from './bufsize/bufsize.ts'
import { setupCache } from './cache/setup.ts'
import { setupCancel } from './cancel/cancel.ts'
import { setupChaos } from './chaos/chaos.ts'
import { setupDebug } from './debug/debug.ts'
import { setupDns64 } from './dns64/dns64.ts'
import { setupDnssec } from './dnssec/setup.ts'
import { setupDnstap } from './dnstap/setup.ts'
import { setupErratic } from './erratic/erratic.ts'
import { setupErrors } from './errors/errors.ts'
import { setupEtcd } from './etcd/setup.ts'
import { setupFile } from './file/setup.ts'
import { setupForward } from './forward/setup.ts'
import { setupGeoip } from './geoip/setup.ts'
import { setupHeader } from './header/header.ts'
import { setupHealth } from './health/health.ts'
import { setupHosts } from './hosts/hosts.ts'
import { setupHttps } from './https/https.ts'
import { setupExternal } from './k8s-external/setup.ts'
import { setupGateway } from './k8s-gateway/setup.ts'
import { setupKubernetesForPeers } from './kubernetes/peer-parts.ts'
import { setupLoadbalance } from './loadbalance/setup.ts'
import { setupLocal } from './local/local.ts'
import { setupLog } from './log/setup.ts'
import { setupLoop } from './loop/loop.ts'
import { setupMetadata } from './metadata/metadata.ts'
import { setupMinimal } from './minimal/minimal.ts'
import { setupMultisocket } from './multisocket/multisocket.ts'
import { setupNsid } from './nsid/nsid.ts'
import { setupPrometheus } from './prometheus/prometheus.ts'
import { setupReady } from './ready/ready.ts'
import { setupReload } from './reload/reload.ts'
import { setupRewrite } from './rewrite/setup.ts'
import { setupRoot } from './root/root.ts'
import { setupSecondary } from './secondary/setup.ts'
import { setupShed } from './shed/shed.ts'
import { setupTemplate } from './template/setup.ts'
import { setupTimeouts } from './timeouts/timeouts.ts'
import { setupTls } from './tls/tls.ts'
import { setupTrace } from './trace/setup.ts'
import { setupTransfer } from './transfer/setup.ts'
import { setupTsig } from './tsig/setup.ts'
import { setupView } from './view/view.ts'
import { setupWhoami } from './whoami/whoami.ts'

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
