/**
 * What SRV records lead to within their unit: such records are written as numbers and a node.
 * @module
 */
import { TYPE } from '../../dns/rr-type.ts'
import { FORM } from '../format/layout.ts'
import { endKey, type NodeDraft } from './node-draft.ts'
import type { SetDraft } from './set-drafts.ts'

/** Nodes that are gone through rather than put in a map. */
const FEW = 16

/** The nodes of a unit, which SRV records may lead to. */
export class UnitTargets {
  private readonly nodes: readonly NodeDraft[]
  /** By the arrays of their labels, which most records have as they are. */
  private byOwner: ReadonlyMap<Uint8Array, NodeDraft> | undefined
  private byKey: ReadonlyMap<string, NodeDraft> | undefined

  constructor(nodes: readonly NodeDraft[]) {
    this.nodes = nodes
  }

  /** Finds the node of a name; `undefined` when the unit has none. */
  find(target: Uint8Array): NodeDraft | undefined {
    const known = this.findOwn(target)
    if (known !== undefined) return known
    this.byKey ??= new Map(this.nodes.map((node) => [node.key, node]))
    return this.byKey.get(endKey(target))
  }

  private findOwn(target: Uint8Array): NodeDraft | undefined {
    const { nodes } = this
    if (nodes.length > FEW) {
      this.byOwner ??= new Map(nodes.map((node) => [node.owner, node]))
      return this.byOwner.get(target)
    }
    for (const node of nodes) if (node.owner === target) return node
    return undefined
  }
}

/** The form that a set is written in, in the unit of some nodes. */
export function formOf({ type, rdata }: SetDraft, nodes: UnitTargets): number {
  if (type === TYPE.A || type === TYPE.AAAA) return FORM.FIXED
  if (type !== TYPE.SRV) return FORM.PARTS
  for (const { target } of rdata) {
    if (target === undefined || nodes.find(target) === undefined) return FORM.PARTS
  }
  return FORM.TARGETS
}
