/**
 * Circles of CNAMEs among hostnames: a query for one of their names gets SERVFAIL.
 * @module
 */
import { parseAddress } from '../../dns/names/address.ts'

/** Longest circle that is found; no resolver follows as many CNAMEs. */
const NAMES_MAX = 16

/** The CNAMEs of hostnames, and the circles of them. */
export class CnameLoops {
  private readonly targets = new Map<string, string>()
  /** The names of a circle, in order, by each of them: a name has one target, hence one circle. */
  private readonly loops = new Map<string, readonly string[]>()

  /** Sets a name's targets; the first hostname is its CNAME. An empty list removes the name. */
  set(name: string, hosts: readonly string[]): void {
    for (const one of this.loops.get(name) ?? []) this.loops.delete(one)
    const target = hosts.find((host) => parseAddress(host) === undefined)
    if (target === undefined) {
      this.targets.delete(name)
      return
    }
    this.targets.set(name, target.toLowerCase().replace(/\.$/, ''))
    const names = [name]
    let next = this.targets.get(name)
    while (next !== undefined && next !== name && names.length < NAMES_MAX) {
      names.push(next)
      next = this.targets.get(next)
    }
    if (next !== name) return
    for (const one of names) this.loops.set(one, names)
  }

  /** Returns a line for each circle. */
  warnings(): string[] {
    return [...new Set(this.loops.values())].map((names) => {
      return `${[...names, names[0]].join(' → ')}: these CNAMEs point in a circle`
    })
  }
}
