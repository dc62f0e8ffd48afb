/**
 * What SRV records lead to within their unit: such records are written as numbers and a node.
 * @module
 */
import { TYPE } from '../dns/rr-type.ts'
import type { Rdata } from '../records/zone-entry.ts'
import { FORM } from './layout.ts'
import { endKey, type NodeDraft } from './node-drafts.ts'
import type { SetDraft } from './set-drafts.ts'

/** The nodes of a unit, which SRV records may lead to. */
export class UnitTargets {
  /** By the arrays of their labels, which most records have as they are. */
  private readonly byOwner: ReadonlyMap<Uint8Array, NodeDraft>
  private readonly nodes: readonly NodeDraft[]
  private byKey: ReadonlyMap<string, NodeDraft> | undefined

  constructor(nodes: readonly NodeDraft[]) {
    this.nodes = nodes
    this.byOwner = new Map(nodes.map((node) => [node.owner, node]))
  }

  /** Finds the node of a name; `undefined` when the unit has none. */
  find(target: Uint8Array): NodeDraft | undefined {
    const known = this.byOwner.get(target)
    if (known !== undefined) return known
    this.byKey ??= new Map(this.nodes.map((node) => [node.key, node]))
    return this.byKey.get(endKey(target))
  }
}

/** The form that a set is written in, in the unit of some nodes. */
export function formOf({ type, rdata }: SetDraft, nodes: UnitTargets): number {
  if (type === TYPE.A || type === TYPE.AAAA) return FORM.FIXED
  const isKnown = ({ target }: Rdata): boolean =>
    target !== undefined && nodes.find(target) !== undefined
  return type === TYPE.SRV && rdata.every(isKnown) ? FORM.TARGETS : FORM.PARTS
}
