/**
 * What to say of a directive that names no plugin: it may be misspelled, old, from elsewhere, or an
 * option that lost its braces.
 * @module
 */
import { nearest } from '../corefile/arguments.ts'
import { type ConfigError, configError } from '../corefile/problem.ts'
import type { Directive } from '../corefile/server-block.ts'
import { leftOutBecause } from './left-out.ts'

/** Words that stood in Corefiles once, and what to write today. */
const REMOVED: ReadonlyMap<string, string> = new Map([
  ['reverse', 'write "template" in its place'],
  ['httpproxy', 'write "forward" in its place'],
  ['upstream', 'leave it out: names are always resolved through the whole server'],
])

/** Options that end up among the directives when a brace is missing, or too many. */
const OPTION_OF: ReadonlyMap<string, string> = new Map([
  ['class', 'log'],
  ['denial', 'cache'],
  ['disable', 'cache'],
  ['endpoint_pod_names', 'kubernetes'],
  ['except', 'forward'],
  ['expire', 'forward'],
  ['fallthrough', 'hosts" or "kubernetes'],
  ['force_tcp', 'forward'],
  ['health_check', 'forward'],
  ['labels', 'kubernetes'],
  ['lameduck', 'health'],
  ['max_concurrent', 'forward'],
  ['max_fails', 'forward'],
  ['namespaces', 'kubernetes'],
  ['pods', 'kubernetes'],
  ['policy', 'forward'],
  ['prefetch', 'cache'],
  ['prefer_udp', 'forward'],
  ['serve_stale', 'cache'],
  ['success', 'cache'],
  ['tls_servername', 'forward'],
  ['ttl', 'kubernetes'],
])

/** Plugins that some builds of CoreDNS have, and what does the same here. */
const FOREIGN: ReadonlyMap<string, string> = new Map([
  ['alias', 'template'],
  ['alternate', 'forward'],
  ['fanout', 'forward'],
  ['nodecache', 'cache'],
  ['recursor', 'forward'],
  ['redis', 'etcd'],
  ['unbound', 'forward'],
])

/**
 * Makes the error for a directive.
 * @param names of the plugins that are here, and of all that are CoreDNS's
 */
export function unknownPlugin(
  directive: Directive,
  names: { readonly here: readonly string[]; readonly anywhere: readonly string[] },
): ConfigError {
  return configError(directive, describe(directive.name, names))
}

function describe(
  name: string,
  { here, anywhere }: { readonly here: readonly string[]; readonly anywhere: readonly string[] },
): string {
  const removed = REMOVED.get(name)
  if (removed !== undefined) return `"${name}" is gone from CoreDNS; ${removed}`
  const leftOut = leftOutBecause(name)
  if (leftOut !== undefined) return leftOut
  if (anywhere.includes(name)) return `plugin "${name}" is not supported yet; leave it out`
  const same = FOREIGN.get(name)
  if (same !== undefined) {
    return `"${name}" is none of CoreDNS's own plugins; see whether "${same}" does what you need`
  }
  const owner = OPTION_OF.get(name)
  if (owner !== undefined) {
    return `"${name}" is no plugin but an option of "${owner}"; is a brace misplaced?`
  }
  const near = nearest(name, here)
  const hint = near === undefined ? 'it is none of CoreDNS either' : `did you mean "${near}"?`
  return `there is no plugin "${name}"; ${hint}`
}
