/**
 * Plugins of CoreDNS that kubedoh leaves out: the reason, and what to use instead. A test compares
 * docs/plugins.md with this table.
 * @module
 */

/** Plugins that are left out for one reason. */
export type LeftOut = {
  readonly plugins: readonly string[]
  readonly reason: string
  /** What to do without them. */
  readonly instead: string
}

/** All plugins that kubedoh leaves out. */
export const LEFT_OUT: readonly LeftOut[] = [
  {
    plugins: ['route53', 'azure', 'clouddns', 'nomad'],
    reason: 'its records come from the API of a cloud or of Nomad',
    instead: 'forward to a CoreDNS that has it, or serve a copy with file',
  },
  {
    plugins: ['quic', 'https3'],
    reason: 'Node has no stable QUIC',
    instead: 'put dnsdist in front of tls:// or https:// (docs/fronts.md)',
  },
  {
    plugins: ['sign'],
    reason: 'other tools sign zone files',
    instead: 'serve the output of dnssec-signzone or ldns-signzone with file, or sign with dnssec',
  },
  {
    plugins: ['on'],
    reason: 'a Corefile runs no commands',
    instead: 'run them where you start the server',
  },
  {
    plugins: ['pprof'],
    reason: "profiles are Go's",
    instead: 'set NODE_OPTIONS to --cpu-prof or --inspect',
  },
]

/** Returns the error for a plugin that is left out; `undefined` for any other. */
export function leftOutBecause(plugin: string): string | undefined {
  const group = LEFT_OUT.find(({ plugins }) => plugins.includes(plugin))
  return group && `plugin "${plugin}" is not supported: ${group.reason}; ${group.instead}`
}
