/**
 * All plugins in the order in which they act, which is CoreDNS's (plugin.cfg) whatever the order in
 * the Corefile; and the names of those that are known but not here.
 * @module
 */
import { nearest } from '../corefile/arguments.ts'
import { configError } from '../corefile/problem.ts'
import type { Directive } from '../corefile/server-block.ts'
import { setupAny } from './any.ts'
import { setupBind } from './bind.ts'
import { setupBufsize } from './bufsize.ts'
import { setupCache } from './cache/setup.ts'
import { setupErrors } from './errors.ts'
import { setupForward } from './forward/setup.ts'
import { setupHealth } from './health.ts'
import { setupHosts } from './hosts.ts'
import { setupKubernetes } from './kubernetes/setup.ts'
import { setupLoadbalance } from './loadbalance.ts'
import { setupLog } from './log.ts'
import { setupLoop } from './loop.ts'
import { setupMinimal } from './minimal.ts'
import type { Setup } from './plugin.ts'
import { setupPrometheus } from './prometheus.ts'
import { setupReady } from './ready.ts'
import { setupReload } from './reload.ts'
import { setupWhoami } from './whoami.ts'

/** Plugins by name, in the order in which they act. */
export const PLUGINS: ReadonlyMap<string, Setup> = new Map<string, Setup>([
  ['reload', setupReload],
  ['bufsize', setupBufsize],
  ['bind', setupBind],
  ['ready', setupReady],
  ['health', setupHealth],
  ['prometheus', setupPrometheus],
  ['errors', setupErrors],
  ['log', setupLog],
  ['any', setupAny],
  ['loadbalance', setupLoadbalance],
  ['cache', setupCache],
  ['minimal', setupMinimal],
  ['hosts', setupHosts],
  ['kubernetes', setupKubernetes],
  ['loop', setupLoop],
  ['forward', setupForward],
  ['whoami', setupWhoami],
])

/** CoreDNS's own plugins that are not here yet. */
const NOT_YET: ReadonlySet<string> = new Set(
  (
    'acl auto autopath azure cancel chaos clouddns debug dns64 dnssec dnstap erratic etcd file ' +
    'geoip grpc grpc_server header https https3 k8s_external local metadata multisocket nomad ' +
    'nsid on pprof proxyproto quic rewrite root route53 secondary shed sign template timeouts ' +
    'tls trace transfer tsig view k8s_gateway'
  ).split(' '),
)

/** Words of Corefiles from before CoreDNS 1.5, and what to write today. */
const REMOVED: ReadonlyMap<string, string> = new Map([
  ['proxy', 'write "forward" in its place'],
  ['upstream', 'leave it out: names are always resolved through the whole server'],
])

/**
 * Finds the plugin that a directive names.
 * @throws {ConfigError} that says what to do when there is none
 */
export function findSetup(directive: Directive): Setup {
  const { name } = directive
  const setup = PLUGINS.get(name)
  if (setup !== undefined) return setup
  const removed = REMOVED.get(name)
  if (removed !== undefined) {
    throw configError(directive, `"${name}" is gone from CoreDNS; ${removed}`)
  }
  if (NOT_YET.has(name)) {
    throw configError(directive, `plugin "${name}" is not supported yet; leave it out`)
  }
  const near = nearest(name, [...PLUGINS.keys()])
  const hint = near === undefined ? 'it is none of CoreDNS either' : `did you mean "${near}"?`
  throw configError(directive, `there is no plugin "${name}"; ${hint}`)
}
