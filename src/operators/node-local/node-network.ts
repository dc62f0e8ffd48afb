/**
 * Sets up the interface and the packet rules of a node's cache, restores what somebody removes, and
 * counts what fails.
 * @module
 */
import { execFile } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { errorCode, errorText, recordOf } from '../../dns/bytes/unknown.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import { type Metrics, metricInfo, type Series } from '../../dns/telemetry/metrics.ts'
import {
  BRIDGE_NOTE,
  interfaceRemovalScript,
  interfaceScript,
  type NodeNetwork,
  type RulesKind,
  rulesRemovalScript,
  rulesScript,
  staleRulesScript,
  stoppingScript,
} from './node-rules.ts'

const SCRIPT_MS = 30_000
/** Exit status of iptables when another program holds its lock for five seconds. */
const LOCKED = 4

/** Kinds of errors, as `errortype` of the metric has them; the last one is ours. */
export type SetupError =
  | 'iptables'
  | 'iptables_lock'
  | 'interface_add'
  | 'interface_check'
  | 'configmap'
  | 'nftables'

/** Runs a shell script; resolves with its output. @throws {Error} with the exit status as `code` */
export type RunScript = (script: string) => Promise<string>

/** Counts setup errors as NodeLocal DNSCache does. */
export function setupErrors(metrics: Metrics): (kind: SetupError) => Series {
  const info = metricInfo(
    'coredns_nodecache_setup_errors_total',
    'The number of errors during periodic network setup for node-cache',
    'errortype',
  )
  const find = (kind: SetupError): Series => metrics.counter(info, [kind])
  const kinds = ['iptables', 'iptables_lock', 'interface_add', 'interface_check', 'configmap']
  for (const kind of [...kinds, 'nftables']) metrics.counter(info, [kind])
  return find
}

/** What to set up. */
export type NodeNetworkOptions = {
  readonly network: NodeNetwork
  readonly hasInterface: boolean
  /** `undefined` for no rules. */
  readonly rules: RulesKind | undefined
  readonly log: Log
  readonly errors: (kind: SetupError) => Series
  readonly run?: RunScript
  /** Whether a newer cache, maybe with other flags, owns interface and rules. */
  readonly isSuperseded?: () => boolean
}

/** The interface and the rules of one cache. Never throws: failures are logged and counted. */
export class NodeSetup {
  private readonly options: NodeNetworkOptions
  private readonly run: RunScript
  private isAdded = false

  constructor(options: NodeNetworkOptions) {
    this.options = options
    this.run = options.run ?? runScript
  }

  /** Creates the interface, or restores it with its addresses. */
  async ensureInterface(): Promise<void> {
    const { network, hasInterface, log } = this.options
    if (!hasInterface) return
    const kind = this.isAdded ? 'interface_check' : 'interface_add'
    const output = await this.attempt(kind, interfaceScript(network))
    if (output === undefined) return
    this.isAdded = true
    if (output.trim() !== BRIDGE_NOTE) return
    const message = `${network.interfaceName} is a bridge without ports: no dummy interfaces here`
    log({ level: 'warning', message })
  }

  /** Loads the rules, or restores them, and removes those of caches with other flags. */
  async ensureRules(): Promise<void> {
    const { network, rules } = this.options
    if (rules === undefined) return
    await this.attempt(rules, rulesScript(rules, network) + staleRulesScript(rules, network))
  }

  /** Restores interface and rules, unless a newer cache does. */
  async restore(): Promise<void> {
    if (this.isSuperseded()) return
    await this.ensureInterface()
    await this.ensureRules()
  }

  /** Restores the interface if an address is missing, which takes 0.1 ms to see. */
  async watchAddresses(): Promise<void> {
    const { network, hasInterface, log } = this.options
    if (!hasInterface) return
    const isLocal = await Promise.all(network.addresses.map(isLocalAddress))
    if (isLocal.every(Boolean) || this.isSuperseded()) return
    log({ level: 'warning', message: `restoring ${network.interfaceName}: an address is missing` })
    await this.ensureInterface()
  }

  /** Gives the Service's address back to kube-proxy; responses still skip connection tracking. */
  async release(): Promise<void> {
    const { network, rules } = this.options
    if (rules !== undefined) await this.attempt(rules, stoppingScript(rules, network))
  }

  /** Removes the rules. Nothing may listen on the addresses any more. */
  async removeRules(): Promise<void> {
    const { network, rules } = this.options
    if (rules !== undefined) await this.attempt(rules, rulesRemovalScript(rules, network))
  }

  /** Removes the interface. */
  async removeInterface(): Promise<void> {
    const { network, hasInterface } = this.options
    if (hasInterface) await this.attempt('interface_check', interfaceRemovalScript(network))
  }

  private isSuperseded(): boolean {
    return this.options.isSuperseded?.() ?? false
  }

  private async attempt(kind: SetupError, script: string): Promise<string | undefined> {
    try {
      return await this.run(script)
    } catch (error) {
      const isLocked = kind === 'iptables' && recordOf(error).code === LOCKED
      const counted = isLocked ? 'iptables_lock' : kind
      this.options.errors(counted).value++
      const message = `cannot set up the network (${counted}): ${errorText(error)}`
      this.options.log({ level: 'error', message })
      return undefined
    }
  }
}

/** Runs a script with `sh -e`. Its error has the last line of standard error as message. */
export const runScript: RunScript = (script) =>
  new Promise((resolve, reject) => {
    const child = execFile('sh', ['-ec', script], { timeout: SCRIPT_MS }, (error, out, notes) => {
      if (error === null) resolve(out)
      else {
        const message = notes.trim().split('\n').at(-1) ?? ''
        const text = message === '' ? `exit status ${error.code}` : message
        reject(Object.assign(new Error(text), { code: error.code }))
      }
    })
    child.stdin?.end()
  })

/** Returns iptables, which NodeLocal DNSCache uses, if the machine can; else nftables. */
export async function chooseRules(run: RunScript = runScript): Promise<RulesKind> {
  try {
    await run('iptables -w 5 -t raw -S >/dev/null; ip6tables -w 5 -t raw -S >/dev/null')
    return 'iptables'
  } catch {
    return 'nftables'
  }
}

/** Resolves with false if no interface has the address. */
function isLocalAddress(address: string): Promise<boolean> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  return new Promise((resolve) => {
    const end = (isLocal: boolean): void => {
      socket.close()
      resolve(isLocal)
    }
    socket.once('error', (error) => end(errorCode(error) !== 'EADDRNOTAVAIL'))
    socket.bind(0, address, () => end(true))
  })
}
