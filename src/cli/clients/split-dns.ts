/**
 * How an operating system is set up to send some domains to another DNS server: split DNS.
 * @module
 */

/** A system whose resolver knows split DNS; `none` for a resolver that the user configures. */
export type SplitDnsSystem = 'linux' | 'macos' | 'windows' | 'none'

/** The domains, without a final dot, and the server that answers for them. */
export type Split = {
  readonly system: SplitDnsSystem
  readonly domains: readonly string[]
  readonly address: string
  readonly port: number
}

/** One change of the system. */
export type SplitStep =
  | { readonly kind: 'run'; readonly command: readonly [string, ...string[]] }
  /** Writes a file that does not exist yet. */
  | { readonly kind: 'write'; readonly path: string; readonly text: string }
  /** Removes a file, if it starts with {@link OWN_FILE_MARKER}. */
  | { readonly kind: 'remove'; readonly path: string }

/** The changes, and those that undo them: each of these succeeds or fails without the others. */
export type SplitPlan = { readonly set: readonly SplitStep[]; readonly undo: readonly SplitStep[] }

/** The first line of files that `kubedoh connect` writes. */
export const OWN_FILE_MARKER = '# Written by kubedoh connect, which removes it when it ends.\n'

/**
 * An interface of our own for systemd-resolved, which has domains per link and accepts none for the
 * loopback interface. `resolvectl` forgets all settings when the interface is deleted.
 */
const LINK = 'kubedoh0'
/** systemd-resolved ignores interfaces without an address. This one is for no host (RFC 7600). */
const LINK_ADDRESS = '192.0.0.8/32'
/** Marks our rules in the Name Resolution Policy Table. */
const COMMENT = 'kubedoh connect'

/** Returns the changes for a system. Domains must be valid hostnames: they become arguments. */
export function planSplit(split: Split): SplitPlan {
  switch (split.system) {
    case 'linux':
      return planResolved(split)
    case 'macos':
      return planResolverFiles(split)
    case 'windows':
      return planPolicyTable(split)
    case 'none':
      return { set: [], undo: [] }
  }
}

/** Formats steps as shell lines, to read or to paste. */
export function formatSteps(steps: readonly SplitStep[]): string {
  return steps.map(formatStep).join('')
}

function formatStep(step: SplitStep): string {
  switch (step.kind) {
    case 'run':
      return `${step.command.map(quote).join(' ')}\n`
    case 'write':
      return `cat > ${step.path} <<'END'\n${step.text}END\n`
    case 'remove':
      return `rm ${step.path}\n`
  }
}

/** See resolvectl(1). */
function planResolved({ domains, address, port }: Split): SplitPlan {
  const link = (verb: string, ...values: string[]): SplitStep =>
    run('resolvectl', verb, LINK, ...values)
  return {
    set: [
      run('ip', 'link', 'add', LINK, 'type', 'dummy'),
      run('ip', 'address', 'add', LINK_ADDRESS, 'dev', LINK),
      run('ip', 'link', 'set', LINK, 'up'),
      link('dns', address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`),
      // "~" makes a domain one for routing only: it does not become a search domain.
      link('domain', ...domains.map((domain) => `~${domain}`)),
      link('default-route', 'false'),
      // The stub is on this machine, and zones of clusters are rarely signed.
      link('dnssec', 'no'),
      link('dnsovertls', 'no'),
    ],
    undo: [link('revert'), run('ip', 'link', 'delete', LINK)],
  }
}

/** See resolver(5) of macOS. */
function planResolverFiles({ domains, address, port }: Split): SplitPlan {
  const paths = domains.map((domain) => `/etc/resolver/${domain}`)
  const text = `${OWN_FILE_MARKER}nameserver ${address}\nport ${port}\n`
  const flush = [run('dscacheutil', '-flushcache'), run('killall', '-HUP', 'mDNSResponder')]
  return {
    set: [
      run('mkdir', '-p', '/etc/resolver'),
      ...paths.map((path): SplitStep => ({ kind: 'write', path, text })),
      ...flush,
    ],
    undo: [...paths.map((path): SplitStep => ({ kind: 'remove', path })), ...flush],
  }
}

/** See Add-DnsClientNrptRule. The table has no ports: the server must use port 53. */
function planPolicyTable({ domains, address }: Split): SplitPlan {
  const namespaces = domains.map((domain) => `'.${domain}'`).join(',')
  return {
    set: [
      powershell(
        `Add-DnsClientNrptRule -Namespace ${namespaces} -NameServers '${address}' ` +
          `-Comment '${COMMENT}'`,
      ),
      powershell('Clear-DnsClientCache'),
    ],
    undo: [
      powershell(
        `Get-DnsClientNrptRule | Where-Object Comment -eq '${COMMENT}' | ` +
          'Remove-DnsClientNrptRule -Force',
      ),
      powershell('Clear-DnsClientCache'),
    ],
  }
}

function powershell(script: string): SplitStep {
  return run('powershell.exe', '-NoProfile', '-NonInteractive', '-Command', script)
}

function run(...command: readonly [string, ...string[]]): SplitStep {
  return { kind: 'run', command }
}

function quote(word: string): string {
  return /^[\w./:=[\]-]+$/.test(word) ? word : `"${word}"`
}
