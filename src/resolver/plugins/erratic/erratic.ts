/**
 * The `erratic` plugin: tests clients with artificial responses, some late, truncated or missing.
 * @module
 */

import {
  argTexts,
  flag,
  type Option,
  type OptionReaders,
  options,
  parseCount,
  parseDuration,
  readOptions,
} from '../../../corefile/arguments.ts'
import type { Directive } from '../../../corefile/server-block.ts'
import { joinName, nameOf, ROOT } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { CLASS } from '../../../dns/names/rr-class.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { EMPTY_REPLY, type ResourceRecord } from '../../../dns/wire/message.ts'
import { constantRdata } from '../../../dns/wire/rdata-text.ts'
import type { Host } from '../../contract/host.ts'
import type { MaybePromise } from '../../contract/maybe-promise.ts'
import { failure, type Outcome } from '../../contract/outcome.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Request } from '../../contract/request.ts'

/** The interval in queries of each fault; 0 for no such fault. */
type Faults = {
  drop: number
  delay: number
  delayMs: number
  truncate: number
  isLarge: boolean
}

const INTERVAL_DEFAULT = 2
const INTERVAL_MAX = 0x7fffffff
const DELAY_MS_DEFAULT = 100
/** Records in a large response: too many for 512 bytes. */
const LARGE_COUNT = 30
const ADDRESSES: ReadonlyMap<number, Uint8Array> = new Map([
  [TYPE.A, constantRdata(TYPE.A, '192.0.2.53')],
  [TYPE.AAAA, constantRdata(TYPE.AAAA, '2001:db8::53')],
])
/** The search list of every client, for `autopath`. */
const SEARCH_PATH: readonly Uint8Array[] = [nameOf('a.example.org'), nameOf('b.example.org'), ROOT]

/**
 * Configures `erratic { drop [N]; truncate [N]; delay [N [DURATION]]; large }`. N is 2 by default.
 * Without options, drops every second query.
 */
export const erraticPlugin: PluginEntry = {
  name: 'erratic',
  answers: { takesAll: true },
  setup: (directives, { host }) => {
    const faults = parseFaults(directives)
    let count = 0
    return {
      plugin: {
        name: 'erratic',
        searchPath: () => SEARCH_PATH,
        isReady: () => 3 <= count && count < 5,
        serve: (request) => {
          const number = count++
          if (isEvery(faults.drop, number)) return { kind: 'drop' }
          const outcome = outcomeOf(request, faults, number)
          return isEvery(faults.delay, number) ? later(host, faults.delayMs, outcome) : outcome
        },
      },
    }
  },
}

function isEvery(interval: number, number: number): boolean {
  return interval > 0 && number % interval === 0
}

function later(host: Host, delayMs: number, outcome: Outcome): MaybePromise<Outcome> {
  return new Promise((resolve) => {
    host.after(delayMs, () => {
      resolve(outcome)
    })
  })
}

function outcomeOf({ name, type }: Request, faults: Faults, number: number): Outcome {
  // CoreDNS uses a bitwise AND here, not a remainder.
  const truncated = faults.truncate > 0 && (number & faults.truncate) === 0
  if (type === TYPE.AXFR) return { kind: 'transfer', records: zoneOf(name, truncated) }
  const rdata = ADDRESSES.get(type)
  if (rdata === undefined) return failure(RCODE.SERVFAIL)
  const count = faults.isLarge && type === TYPE.A ? LARGE_COUNT : 1
  const answer = Array.from({ length: count }, () => record(name, type, rdata))
  return { ...EMPTY_REPLY, authoritative: true, truncated, answer }
}

/** Returns a small zone; a truncated one lacks the SOA record at its end. */
function zoneOf(name: Uint8Array, truncated: boolean): ResourceRecord[] {
  const [a, b] = ['a', 'b'].map((label) => joinName(nameOf(label).subarray(0, -1), name) ?? name)
  if (a === undefined || b === undefined) return []
  const soa = record(name, TYPE.SOA, constantRdata(TYPE.SOA, SOA))
  const records = [
    soa,
    record(name, TYPE.NS, b),
    record(name, TYPE.NS, a),
    record(a, TYPE.AAAA, constantRdata(TYPE.AAAA, '2001:bd8::53')),
    record(b, TYPE.AAAA, constantRdata(TYPE.AAAA, '2001:500::54')),
  ]
  return truncated ? records : [...records, soa]
}

const SOA = 'sns.dns.icann.org. noc.dns.icann.org. 2018050825 7200 3600 1209600 3600'

function record(owner: Uint8Array, type: number, rdata: Uint8Array): ResourceRecord {
  return { owner, type, class: CLASS.IN, ttlSeconds: 0, rdata }
}

/** Reads the options. With `delay` or `truncate`, drops queries only if `drop` has an N. */
function parseFaults(directives: readonly Directive[]): Faults {
  const faults: Faults = { drop: 0, delay: 0, delayMs: 0, truncate: 0, isLarge: false }
  for (const directive of directives) readOptions(directive, READERS, faults)
  const isDropExplicit = directives
    .flatMap(options)
    .some(({ name, args }) => name === 'drop' && args.length > 0)
  const isOther = faults.delay > 0 || faults.truncate > 0
  if (!isDropExplicit) faults.drop = isOther ? 0 : INTERVAL_DEFAULT
  return faults
}

const READERS: OptionReaders<Faults> = {
  drop: (option) => ({ drop: interval(option, 1) }),
  truncate: (option) => ({ truncate: interval(option, 1) }),
  delay: (option) => ({
    delay: interval(option, 2),
    delayMs: option.args[1] ? parseDuration(option.args[1]) : DELAY_MS_DEFAULT,
  }),
  large: (option) => ({ isLarge: flag(option) }),
}

/** Reads the N of an option with at most so many arguments. */
function interval(option: Option, argsMax: number): number {
  argTexts(option, 0, argsMax)
  const [word] = option.args
  return word ? parseCount(word, 0, INTERVAL_MAX) : INTERVAL_DEFAULT
}
