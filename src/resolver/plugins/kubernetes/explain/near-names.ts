/**
 * Finds names of Services that are similar to a name that does not exist, for `kubedoh explain`.
 * @module
 */

import { editDistance } from '../../../../corefile/arguments.ts'
import { byteAt } from '../../../../dns/bytes/bytes.ts'
import { createSharedPause } from '../../../../dns/bytes/steps.ts'
import { formatName } from '../../../../dns/names/name.ts'
import type { Shard } from '../../../../snapshot/read/shard.ts'
import type { ExplainedPlace } from './explain-context.ts'
import { textLabels } from './explained-names.ts'

/** Similar names that are returned. */
const NAMES_MAX = 3
/** Shards that are loaded to look for them; others count only if they are loaded. */
const LOADS_MAX = 64
/** Names that are compared by their letters. */
const COMPARED_MAX = 100_000
/** Letters that may differ in the namespace and in the Service, each. */
const LETTERS_MAX = 2
/** The distance of a Service with the same name in another namespace. */
const ELSEWHERE = 2.5
/** The first letter of `svc`. */
const LETTER_S = 0x73

type Wanted = { readonly service: string; readonly namespace: string | undefined }

/**
 * Returns absolute names of Services that the client sees, the most similar first. Pauses, so that
 * queries are answered meanwhile.
 */
export async function nearNames(
  labels: Uint8Array,
  place: ExplainedPlace,
): Promise<readonly string[]> {
  const { source, visibility, zone, turns } = place
  const pause = createSharedPause(turns)
  const wanted = wantedOf(textLabels(labels))
  const given = labelsIn(labels)
  const count = source.current()?.shards.length ?? 0
  const found = new Map<string, number>()
  let loads = 0
  let compared = 0
  for (let i = 0; i < count && compared < COMPARED_MAX; i++) {
    let shard = source.current()?.shards[i]
    if (shard === undefined && loads++ < LOADS_MAX) shard = (await source.load(i))?.shards[i]
    if (shard === undefined) continue
    await pause()
    const namespaces = visibility?.namespaces
    for (const node of shard.nodes()) {
      const service = serviceAt(shard, node, given)
      if (service === undefined || shard.isGlue(node) || shard.isImplied(node)) continue
      if (namespaces?.has(shard, shard.nodeNamespaceId(node)) === false) continue
      // Counts visible names only: what a client gets must not depend on hidden ones.
      if (++compared > COMPARED_MAX) break
      const distance = Math.min(...wanted.map((one) => distanceOf(one, service)))
      if (distance < Infinity) found.set(`${service.service}.${service.namespace}.svc`, distance)
    }
  }
  const ranked = [...found].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1))
  const origin = formatName(zone.origin.bytes)
  return ranked.slice(0, NAMES_MAX).map(([name]) => `${name}.${origin}`)
}

/**
 * Returns the Services that a name may mean: its Service and namespace, in either order, with or
 * without `svc`.
 */
function wantedOf(labels: readonly string[]): readonly Wanted[] {
  const last = labels.at(-1)
  const names = last === 'svc' || last === 'pod' ? labels.slice(0, -1) : labels
  const [namespace = '', service] = names.toReversed()
  if (service === undefined) return [{ service: namespace, namespace: undefined }]
  return [
    { service, namespace },
    { service: namespace, namespace: service },
  ]
}

function distanceOf({ service, namespace }: Wanted, found: Required<Wanted>): number {
  const letters = lettersApart(service, found.service)
  if (namespace === undefined) return letters
  const space = lettersApart(namespace, found.namespace ?? '')
  if (letters === 0 && space === Infinity) return ELSEWHERE
  return letters + space
}

/** Returns the letters that differ; Infinity for more than a third of the word, or than 2. */
function lettersApart(a: string, b: string): number {
  if (a === b) return 0
  const most = Math.min(LETTERS_MAX, Math.ceil(a.length / 3))
  if (Math.abs(a.length - b.length) > most) return Infinity
  const distance = editDistance(a, b)
  return distance <= most ? distance : Infinity
}

/** Returns the labels of a name, each with its length byte. */
function labelsIn(labels: Uint8Array): readonly Uint8Array[] {
  const all: Uint8Array[] = []
  for (let at = 0; at < labels.length; at += byteAt(labels, at) + 1) {
    all.push(labels.subarray(at, at + byteAt(labels, at) + 1))
  }
  return all
}

/**
 * Returns the Service of a node with the name `SERVICE.NAMESPACE.svc`; `undefined` for others, and
 * if neither label is one of `given`: comparing letters takes too long for all names of a cluster.
 */
function serviceAt(
  shard: Shard,
  node: number,
  given: readonly Uint8Array[],
): Required<Wanted> | undefined {
  const { bytes } = shard
  const start = shard.nameOffset(node)
  const space = start + 1 + (bytes[start] ?? 0)
  const branch = space + 1 + (bytes[space] ?? 0)
  const size = shard.nameBytes(node)
  if (branch + 4 !== start + size || bytes[branch] !== 3 || bytes[branch + 1] !== LETTER_S) {
    return undefined
  }
  const isGiven = (at: number): boolean => given.some((label) => beginsWith(bytes, at, label))
  if (!isGiven(start) && !isGiven(space)) return undefined
  const [service = '', namespace = ''] = textLabels(bytes.subarray(start, start + size))
  return { service, namespace }
}

function beginsWith(bytes: Uint8Array, at: number, label: Uint8Array): boolean {
  for (let i = 0; i < label.length; i++) if (bytes[at + i] !== label[i]) return false
  return true
}
