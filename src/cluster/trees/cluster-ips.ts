/**
 * The cluster IPs to answer instead of the external addresses of Services, so that clients inside a
 * cluster do not leave it and come back through the load balancer.
 * @module
 */
import { formatAddress, parseAddress } from '../../dns/names/address.ts'
import type { Service } from '../objects/objects.ts'
import { externalHosts, insideAddresses } from '../rules/external-names.ts'
import { KeyIndex } from './key-index.ts'

/** The Services of a cluster by their external addresses, and what points to these. */
export class ClusterIPs {
  private readonly services = new Map<string, Service>()
  /** Services by their external addresses and hostnames, and objects by their targets. */
  private readonly owners = new KeyIndex()
  private readonly users = new KeyIndex()
  private readonly targets = new Map<string, ReadonlySet<string>>()

  /**
   * Adds, replaces or removes a Service.
   * @returns the objects whose targets may change, some of them twice
   */
  change(id: string, service: Service | undefined): readonly string[] {
    const before = this.services.get(id)
    const old = before === undefined ? [] : externalHosts(before).map(keyOf)
    const current = service === undefined ? [] : externalHosts(service).map(keyOf)
    const keys = [...new Set([...old, ...current])]
    // An address of several Services before and after gives the same targets.
    const owned = keys.filter((key) => this.owners.count(key) < 2)
    for (const key of old) this.owners.delete(key, id)
    for (const key of current) this.owners.add(key, id)
    if (service === undefined) this.services.delete(id)
    else this.services.set(id, service)
    const affected = new Set([...owned, ...keys.filter((key) => this.owners.count(key) < 2)])
    return [...affected].flatMap((key) => this.users.of(key))
  }

  /** Sets the targets of an object; none to forget it. */
  use(id: string, targets: readonly string[]): void {
    for (const key of this.targets.get(id) ?? []) this.users.delete(key, id)
    const keys = new Set(targets.map(keyOf))
    for (const key of keys) this.users.add(key, id)
    if (keys.size === 0) this.targets.delete(id)
    else this.targets.set(id, keys)
  }

  /**
   * Replaces each target that is an external address or hostname of one Service by the Service's
   * cluster IPs. Several Services can share an address with different ports: such a target stays.
   */
  replace(targets: readonly string[]): readonly string[] {
    return targets.flatMap((target) => {
      const service = this.services.get(this.owners.only(keyOf(target)))
      const inner = service === undefined ? [] : insideAddresses(service)
      return inner.length === 0 ? [target] : inner
    })
  }
}

/** Returns one text for all spellings of an address or hostname. */
function keyOf(target: string): string {
  const address = parseAddress(target)
  return address === undefined ? target.toLowerCase().replace(/\.$/, '') : formatAddress(address)
}
