/**
 * The plugins of Workers. A list of its own, so that the Worker's bundle has no code of plugins
 * that a Worker refuses or ignores by their entries.
 * @module
 */
import {
  type GatewayDifference,
  type PluginEntry,
  type PluginSet,
  pluginSet,
} from '../contract/plugin-entry.ts'
import { aclPlugin } from './acl/acl.ts'
import { anyPlugin } from './any/any.ts'
import { autoPlugin } from './auto/setup.ts'
import { autopathPlugin } from './autopath/autopath.ts'
import { bufsizePlugin } from './bufsize/bufsize.ts'
import { cachePlugin } from './cache/setup.ts'
import { cancelPlugin } from './cancel/cancel.ts'
import { chaosPlugin } from './chaos/chaos.ts'
import { debugPlugin } from './debug/debug.ts'
import { dns64Plugin } from './dns64/dns64.ts'
import { erraticPlugin } from './erratic/erratic.ts'
import { errorsPlugin } from './errors/errors.ts'
import { etcdPlugin } from './etcd/setup.ts'
import { filePlugin } from './file/setup.ts'
import { forwardPlugin } from './forward/setup.ts'
import { headerPlugin } from './header/header.ts'
import { hostsPlugin } from './hosts/hosts.ts'
import { k8sExternalPlugin } from './k8s-external/setup.ts'
import { k8sGatewayPlugin } from './k8s-gateway/setup.ts'
import { kubernetesPlugin } from './kubernetes/setup.ts'
import { loadbalancePlugin } from './loadbalance/setup.ts'
import { localPlugin } from './local/local.ts'
import { logPlugin } from './log/setup.ts'
import { metadataPlugin } from './metadata/metadata.ts'
import { minimalPlugin } from './minimal/minimal.ts'
import { multisocketPlugin } from './multisocket/multisocket.ts'
import { nsidPlugin } from './nsid/nsid.ts'
import { prometheusPlugin } from './prometheus/prometheus.ts'
import { rewritePlugin } from './rewrite/setup.ts'
import { rootPlugin } from './root/root.ts'
import { shedPlugin } from './shed/shed.ts'
import { templatePlugin } from './template/setup.ts'
import { viewPlugin } from './view/view.ts'
import { whoamiPlugin } from './whoami/whoami.ts'

/** Plugins of `kubedoh serve` that Workers ignore or refuse. */
export const ABSENT_AT_EDGE: Readonly<Record<'ignored' | 'refused', string>> = {
  ignored:
    'proxyproto grpc_server https timeouts reload cookies bind trace ready health dnstap tls transfer loop',
  refused: 'geoip tsig dnssec secondary grpc',
}

/** The plugins of Workers, in the order of `ALL_PLUGINS`; those without code at the end. */
export const EDGE_PLUGINS: PluginSet = pluginSet([
  rootPlugin,
  metadataPlugin,
  cancelPlugin,
  multisocketPlugin,
  nsidPlugin,
  bufsizePlugin,
  debugPlugin,
  shedPlugin,
  prometheusPlugin,
  errorsPlugin,
  logPlugin,
  localPlugin,
  dns64Plugin,
  anyPlugin,
  chaosPlugin,
  loadbalancePlugin,
  rewritePlugin,
  autopathPlugin,
  aclPlugin,
  cachePlugin,
  headerPlugin,
  minimalPlugin,
  templatePlugin,
  hostsPlugin,
  k8sExternalPlugin,
  kubernetesPlugin,
  k8sGatewayPlugin,
  filePlugin,
  autoPlugin,
  etcdPlugin,
  forwardPlugin,
  erraticPlugin,
  whoamiPlugin,
  viewPlugin,
  ...absent('ignored'),
  ...absent('refused'),
])

function absent(is: 'ignored' | 'refused'): PluginEntry[] {
  const because = '"kubedoh check --for worker" reports why'
  const gateways: GatewayDifference = { at: 'worker', is, because }
  return ABSENT_AT_EDGE[is].split(' ').map((name) => ({ name, gateways, setup: () => ({}) }))
}
