/**
 * The `erratic` plugin: answers made up, some of them late, cut or not at all, to try clients with.
 * @module
 */

import type { Host } from '../../chain/host.ts'
import type { MaybePromise } from '../../chain/maybe-promise.ts'
import { failure, type Outcome } from '../../chain/outcome.ts'
import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Request } from '../../chain/request.ts'
import type { Setup } from '../../chain/setup.ts'
import {
  argTexts,
  type Option,
  options,
  parseCount,
  parseDuration,
  unknownOption,
} from '../../corefile/arguments.ts'
import type { Directive } from '../../corefile/server-block.ts'
import { EMPTY_REPLY, type ResourceRecord } from '../../dns/message.ts'
import { joinName, nameOf, ROOT } from '../../dns/name.ts'
import { RCODE } from '../../dns/rcode.ts'
import { constantRdata } from '../../dns/rdata-text.ts'
import { CLASS } from '../../dns/rr-class.ts'
import { TYPE } from '../../dns/rr-type.ts'

/** Which queries have what done to them: every so many-th, 0 for none. */
type Habits = {
  drop: number
  delay: number
  delayMs: number
  truncate: number
  isLarge: boolean
}

const OPTIONS = ['drop', 'truncate', 'delay', 'large']
const INTERVAL_DEFAULT = 2
const INTERVAL_MAX = 0x7fffffff
const DELAY_MS_DEFAULT = 100
/** Records in a large answer: more than 512 bytes have room for. */
const LARGE_COUNT = 30
const ADDRESSES: ReadonlyMap<number, Uint8Array> = new Map([
  [TYPE.A, constantRdata(TYPE.A, '192.0.2.53')],
  [TYPE.AAAA, constantRdata(TYPE.AAAA, '2001:db8::53')],
])
/** What it makes a client's machine search, for `autopath`. */
const SEARCH_PATH: readonly Uint8Array[] = [nameOf('a.example.org'), nameOf('b.example.org'), ROOT]

/**
 * Configures `erratic { drop [N]; truncate [N]; delay [N [DURATION]]; large }`: every second query
 * where N is left out; without options every second one is dropped.
 */
const setup: Setup = (directives, { host }) => {
  const habits = parseHabits(directives)
  let count = 0
  return {
    plugins: [
      {
        name: 'erratic',
        searchPath: () => SEARCH_PATH,
        isReady: () => 3 <= count && count < 5,
        serve: (request) => {
          const number = count++
          if (isEvery(habits.drop, number)) return { kind: 'drop' }
          const outcome = outcomeOf(request, habits, number)
          return isEvery(habits.delay, number) ? later(host, habits.delayMs, outcome) : outcome
        },
      },
    ],
  }
}

/** The entry of `erratic`. */
export const erraticPlugin: PluginEntry = {
  name: 'erratic',
  isAtEdge: true,
  answers: { takesAll: true },
  setup,
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

function outcomeOf({ name, type }: Request, habits: Habits, number: number): Outcome {
  // CoreDNS takes the bits in common where it means the rest of a division.
  const truncated = habits.truncate > 0 && (number & habits.truncate) === 0
  if (type === TYPE.AXFR) return { kind: 'transfer', records: zoneOf(name, truncated) }
  const rdata = ADDRESSES.get(type)
  if (rdata === undefined) return failure(RCODE.SERVFAIL)
  const count = habits.isLarge && type === TYPE.A ? LARGE_COUNT : 1
  const answer = Array.from({ length: count }, () => record(name, type, rdata))
  return { ...EMPTY_REPLY, authoritative: true, truncated, answer }
}

/** A small zone; one that is cut lacks the SOA record at its end. */
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

/** Whoever delays or truncates does not drop as well, unless it says so. */
function parseHabits(directives: readonly Directive[]): Habits {
  const habits: Habits = { drop: 0, delay: 0, delayMs: 0, truncate: 0, isLarge: false }
  let isDropSaid = false
  for (const option of directives.flatMap(options)) {
    if (option.name === 'drop' && option.args.length > 0) isDropSaid = true
    readOption(option, habits)
  }
  const isOther = habits.delay > 0 || habits.truncate > 0
  if (!isDropSaid) habits.drop = isOther ? 0 : INTERVAL_DEFAULT
  return habits
}

function readOption(option: Option, habits: Habits): void {
  const [first, second] = option.args
  const interval = first ? parseCount(first, 0, INTERVAL_MAX) : INTERVAL_DEFAULT
  switch (option.name) {
    case 'drop':
      argTexts(option, 0, 1)
      habits.drop = interval
      return
    case 'truncate':
      argTexts(option, 0, 1)
      habits.truncate = interval
      return
    case 'delay':
      argTexts(option, 0, 2)
      habits.delay = interval
      habits.delayMs = second ? parseDuration(second) : DELAY_MS_DEFAULT
      return
    case 'large':
      argTexts(option, 0)
      habits.isLarge = true
      return
    default:
      throw unknownOption('erratic', option, OPTIONS)
  }
}
