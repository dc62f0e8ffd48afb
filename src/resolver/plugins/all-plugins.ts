/**
 * All plugins. `kubedoh serve` and `kubedoh gateway` have them; Workers have those of
 * `edge-plugins.ts`.
 * @module
 */
import type { Host } from '../contract/host.ts'
import { type PluginSet, pluginSet } from '../contract/plugin-entry.ts'
import { aclPlugin } from './acl/acl.ts'
import { anyPlugin } from './any/any.ts'
import { autoPlugin } from './auto/setup.ts'
import { autopathPlugin } from './autopath/autopath.ts'
import { bindPlugin } from './bind/bind.ts'
import { bufsizePlugin } from './bufsize/bufsize.ts'
import type { CacheHost } from './cache/persistence.ts'
import { cachePlugin } from './cache/setup.ts'
import { cancelPlugin } from './cancel/cancel.ts'
import { chaosPlugin } from './chaos/chaos.ts'
import { type CookiesHost, cookiesPlugin } from './cookies/cookies.ts'
import { debugPlugin } from './debug/debug.ts'
import { dns64Plugin } from './dns64/dns64.ts'
import type { DnssecHost } from './dnssec/key-file.ts'
import { dnssecPlugin } from './dnssec/setup.ts'
import { type DnstapHost, dnstapPlugin } from './dnstap/setup.ts'
import { erraticPlugin } from './erratic/erratic.ts'
import { errorsPlugin } from './errors/errors.ts'
import type { EtcdHost } from './etcd/options.ts'
import { etcdPlugin } from './etcd/setup.ts'
import { filePlugin } from './file/setup.ts'
import { forwardPlugin } from './forward/setup.ts'
import { geoipPlugin } from './geoip/setup.ts'
import { grpcPlugin } from './grpc/grpc.ts'
import { grpcServerPlugin } from './grpc-server/grpc-server.ts'
import { headerPlugin } from './header/header.ts'
import { healthPlugin } from './health/health.ts'
import { hostsPlugin } from './hosts/hosts.ts'
import { httpsPlugin } from './https/https.ts'
import { k8sExternalPlugin } from './k8s-external/setup.ts'
import { k8sGatewayPlugin } from './k8s-gateway/setup.ts'
import { kubernetesForPeersPlugin } from './kubernetes/peer-parts.ts'
import { loadbalancePlugin } from './loadbalance/setup.ts'
import { localPlugin } from './local/local.ts'
import { logPlugin } from './log/setup.ts'
import { loopPlugin } from './loop/loop.ts'
import { metadataPlugin } from './metadata/metadata.ts'
import { minimalPlugin } from './minimal/minimal.ts'
import { multisocketPlugin } from './multisocket/multisocket.ts'
import { nsidPlugin } from './nsid/nsid.ts'
import { prometheusPlugin } from './prometheus/prometheus.ts'
import { proxyprotoPlugin } from './proxyproto/proxyproto.ts'
import { readyPlugin } from './ready/ready.ts'
import { reloadPlugin } from './reload/reload.ts'
import { rewritePlugin } from './rewrite/setup.ts'
import { rootPlugin } from './root/root.ts'
import type { SecondaryHost } from './secondary/receive-zone.ts'
import { secondaryPlugin } from './secondary/setup.ts'
import { shedPlugin } from './shed/shed.ts'
import { templatePlugin } from './template/setup.ts'
import { timeoutsPlugin } from './timeouts/timeouts.ts'
import { tlsPlugin } from './tls/tls.ts'
import { type TraceHost, tracePlugin } from './trace/setup.ts'
import { transferPlugin } from './transfer/setup.ts'
import { tsigPlugin } from './tsig/setup.ts'
import type { TsigHost } from './tsig/verify.ts'
import { viewPlugin } from './view/view.ts'
import { whoamiPlugin } from './whoami/whoami.ts'

/** What the plugins need from their host. */
export type AllPluginsHost = Host &
  EtcdHost &
  CacheHost &
  CookiesHost &
  DnstapHost &
  DnssecHost &
  TsigHost &
  TraceHost &
  SecondaryHost

/** All plugins, in the order in which they act: CoreDNS's (plugin.cfg). */
export const ALL_PLUGINS: PluginSet<AllPluginsHost> = pluginSet<AllPluginsHost>([
  rootPlugin,
  metadataPlugin,
  geoipPlugin,
  cancelPlugin,
  proxyprotoPlugin,
  grpcServerPlugin,
  httpsPlugin,
  timeoutsPlugin,
  multisocketPlugin,
  reloadPlugin,
  nsidPlugin,
  bufsizePlugin,
  cookiesPlugin,
  bindPlugin,
  debugPlugin,
  tracePlugin,
  readyPlugin,
  healthPlugin,
  shedPlugin,
  prometheusPlugin,
  errorsPlugin,
  logPlugin,
  dnstapPlugin,
  localPlugin,
  dns64Plugin,
  anyPlugin,
  chaosPlugin,
  loadbalancePlugin,
  tsigPlugin,
  rewritePlugin,
  autopathPlugin,
  aclPlugin,
  cachePlugin,
  headerPlugin,
  dnssecPlugin,
  tlsPlugin,
  minimalPlugin,
  templatePlugin,
  transferPlugin,
  hostsPlugin,
  k8sExternalPlugin,
  kubernetesForPeersPlugin,
  k8sGatewayPlugin,
  filePlugin,
  autoPlugin,
  secondaryPlugin,
  etcdPlugin,
  loopPlugin,
  forwardPlugin,
  grpcPlugin,
  erraticPlugin,
  whoamiPlugin,
  viewPlugin,
])
