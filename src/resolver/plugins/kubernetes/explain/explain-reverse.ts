/**
 * Explains a reverse name: the names of its address, and the object behind each.
 * @module
 */

import { formatAddress } from '../../../../dns/names/address.ts'
import { formatName, tailOffset } from '../../../../dns/names/name.ts'
import { formatType, TYPE } from '../../../../dns/names/rr-type.ts'
import type { Query } from '../../../../dns/wire/query.ts'
import { ReverseAddress, readReverseName } from '../../../../dns/wire/reverse-name.ts'
import { MissingShardError } from '../../../../snapshot/read/find-name.ts'
import { setRecords } from '../../../../snapshot/read/shard-records.ts'
import type { Reason } from '../../../contract/fact.ts'
import { SURPLUS_LABELS } from '../reverse-answer.ts'
import type { ExplainContext, Found } from './explain-context.ts'
import { noType, objectOf, textLabels } from './explained-names.ts'

type Target = { readonly name: string; readonly object: string | null; readonly namespace: string }

/** Explains a name in a reverse zone. @throws {MissingShardError} if a shard is not loaded */
export function explainReverse(query: Query, context: ExplainContext): Found {
  const wanted = new ReverseAddress()
  const surplusMax = context.rules === 'coredns' ? SURPLUS_LABELS : 0
  if (!readReverseName(query, wanted, surplusMax)) {
    return why('bad_reverse_name', 'the name is not the reverse name of an address')
  }
  const { bytes, addressBytes, bitCount } = wanted
  if (bitCount < 8 * addressBytes) {
    return why('bad_reverse_name', 'the name spells only a part of an address')
  }
  const address = bytes.slice(0, addressBytes)
  const targets = targetsOf(query, address, context)
  const [first] = targets
  if (first === undefined) {
    const text = formatAddress(address)
    return why('no_pointer', `no Service and no named endpoint has the address ${text}`, text)
  }
  const { namespace, object } = first
  const all = targets.map(({ name, object: own }) => ({ name, object: own }))
  const node = {
    namespace,
    object,
    rule: 'pointer',
    types: ['PTR'],
    isImplied: false,
    targets: all,
  }
  if (query.type === TYPE.PTR || query.type === TYPE.ANY) return { node }
  return { node, reason: noType(node, formatType(query.type), context.rules === 'coredns') }
}

function why(code: string, text: string, missing: string | null = null): Found {
  const reason: Reason = { code, text, missing, didYouMean: [] }
  return { node: null, reason }
}

/** Lists the names of an address; those that yield only if the client sees no others. */
function targetsOf(query: Query, address: Uint8Array, context: ExplainContext): readonly Target[] {
  const { snapshot, visibility, home } = context
  const index = snapshot.shardOfAddress(address)
  const shard = snapshot.shards[index]
  if (shard === undefined) throw new MissingShardError(index)
  const table = address.length === 4 ? shard.addresses4 : shard.addresses6
  const rows: number[] = []
  for (let i = table.firstFrom(address); table.hasPrefix(i, address, 8 * address.length); i++) {
    const isSeen = visibility?.namespaces?.has(shard, table.namespaceId(i)) !== false
    if (isSeen && table.targetCount(i) > 0) rows.push(i)
  }
  const own = rows.filter((row) => !table.isYielding(row))
  const others = visibility?.namespaces === undefined ? [] : rows
  return (own.length > 0 ? own : others).flatMap((row) => {
    const place = {
      set: table.set(row),
      count: table.targetCount(row),
      type: TYPE.PTR,
      origin: home,
    }
    return setRecords(shard, place, query.name).map(({ rdata }) => {
      const relative = rdata.subarray(0, Math.max(0, tailOffset(rdata, home)))
      const namespace = shard.namespaces[table.namespaceId(row)] ?? ''
      return {
        name: formatName(rdata),
        object: objectOf(textLabels(relative), context.tree),
        namespace,
      }
    })
  })
}
