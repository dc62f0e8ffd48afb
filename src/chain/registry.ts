/**
 * Which plugins there are, in the order in which they act: CoreDNS's (plugin.cfg), whatever the
 * order in the Corefile. Each runtime has its own set of them.
 * @module
 */
import { configError } from '../corefile/problem.ts'
import type { Directive } from '../corefile/server-block.ts'
import type { Setup } from './setup.ts'
import { unknownPlugin } from './unknown-plugin.ts'

/** Plugins by name, in the order in which they act. */
export type PluginSet = ReadonlyMap<string, Setup>

/** All plugins of CoreDNS and k8s_gateway, in the order in which they act (plugin.cfg). */
export const PLUGIN_ORDER: readonly string[] = (
  'root metadata geoip cancel proxyproto quic grpc_server https https3 timeouts multisocket ' +
  'reload nsid bufsize bind debug trace ready health pprof shed prometheus errors log dnstap ' +
  'local dns64 any chaos loadbalance tsig rewrite autopath acl cache header dnssec tls minimal ' +
  'template transfer hosts route53 azure clouddns k8s_external kubernetes k8s_gateway file auto ' +
  'secondary etcd loop forward grpc erratic whoami on sign view nomad'
).split(' ')

/** Plugins that a Worker has not. */
const NEEDS_NODE: ReadonlySet<string> = new Set(
  (
    'auto autopath bind cancel chaos debug dns64 dnssec dnstap erratic file geoip header health ' +
    'https local log loop metadata multisocket nsid ready reload ' +
    'root secondary shed template timeouts tls trace transfer tsig view whoami'
  ).split(' '),
)

/** Plugins whose names come from a cluster or an etcd, and are not published to gateways. */
const NEEDS_CLUSTER: ReadonlySet<string> = new Set(['etcd', 'k8s_external', 'k8s_gateway'])

/**
 * Puts plugins in the order in which they act.
 * @throws {TypeError} when `PLUGIN_ORDER` lacks one of them
 */
export function pluginSet(setups: Readonly<Record<string, Setup>>): PluginSet {
  const missing = Object.keys(setups).filter((name) => !PLUGIN_ORDER.includes(name))
  if (missing.length > 0) throw new TypeError(`PLUGIN_ORDER lacks ${missing.join(', ')}`)
  return new Map(
    PLUGIN_ORDER.flatMap((name) => {
      const setup = setups[name]
      return setup === undefined ? [] : [[name, setup] as const]
    }),
  )
}

/**
 * Finds the plugin that a directive names.
 * @throws {ConfigError} that says what to do when there is none
 */
export function findSetup(plugins: PluginSet, directive: Directive): Setup {
  const { name } = directive
  const setup = plugins.get(name)
  if (setup !== undefined) return setup
  if (NEEDS_CLUSTER.has(name)) {
    const message = `plugin "${name}" is at no gateway, as its names are not published`
    throw configError(directive, `${message}; "kubedoh serve" has it`)
  }
  if (NEEDS_NODE.has(name)) {
    const message = `plugin "${name}" is not in the Worker`
    throw configError(directive, `${message}; "kubedoh serve" and "kubedoh gateway" have it`)
  }
  throw unknownPlugin(directive, { here: [...plugins.keys()], anywhere: PLUGIN_ORDER })
}
