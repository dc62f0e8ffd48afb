/**
 * Shards with one thing wrong in each, and what opening them must say.
 * @module
 */
import { EMPTY } from '../../src/dns/bytes/bytes.ts'
import type { ZoneEntry } from '../../src/snapshot/records/zone-entry.ts'
import { buildShards } from '../../src/snapshot/write/build-shards.ts'
import { existingName, labels, pointer, rrset } from './entries.ts'

/** A shard that is refused: a good one, a change, and a part of the message. */
export type Patch = {
  readonly name: string
  readonly base: readonly ZoneEntry[]
  readonly change: (view: DataView) => void
  readonly message: string
}

/** The example of the README, which says where everything stands in it. */
export const EXAMPLE: readonly ZoneEntry[] = [
  rrset('web 5 IN A 192.0.2.1', 'shop'),
  pointer([192, 0, 2, 1], 'web', { namespace: 'shop' }),
]

/** Names above; nodes at 0x90 and 0xac; an SRV set at 0xc0, and its record at 0xc4. */
const SERVICE: readonly ZoneEntry[] = [
  rrset('a.x.y 5 IN A 192.0.2.1'),
  rrset('b.a.x.y 5 IN SRV 0 100 80 a.x.y'),
]

/** One node and one set at 0x60, its record at 0x64. */
const MAIL = [rrset('a 5 IN MX 10 b')]
const ADDRESSES = [pointer([192, 0, 2, 1], 'a'), pointer([192, 0, 2, 2], 'a')]

/** Labels of 255 bytes, no room for a root. */
const NAME_255 = [1, 2, 3, 4].map((n) => String(n).repeat(n < 4 ? 63 : 62)).join('.')

const u8 = (at: number, value: number) => (view: DataView) => view.setUint8(at, value)
const u16 = (at: number, value: number) => (view: DataView) => view.setUint16(at, value, true)
const u32 = (at: number, value: number) => (view: DataView) => view.setUint32(at, value, true)

/** All that is checked, in the order in which it is. */
export const PATCHES: readonly Patch[] = [
  {
    name: 'other first bytes',
    base: EXAMPLE,
    change: u8(3, 0x31),
    message: 'it does not begin with "KDS3"',
  },
  {
    name: 'a feature that this build does not know',
    base: EXAMPLE,
    change: u32(4, 2),
    message: 'it needs features 2, this build knows 0',
  },
  {
    name: 'another size than the header says',
    base: EXAMPLE,
    change: u32(8, 132),
    message: '136 bytes, header says 132',
  },
  {
    name: 'three slots',
    base: EXAMPLE,
    change: u32(20, 3),
    message: 'the index has 3 slots, not a power of two',
  },
  {
    name: 'one slot, which a search would never leave',
    base: EXAMPLE,
    change: u32(20, 1),
    message: 'the index has 1 slots, not a power of two',
  },
  {
    name: 'as many nodes as slots',
    base: EXAMPLE,
    change: u32(28, 2),
    message: 'the index is full',
  },
  {
    name: 'an index within the header',
    base: EXAMPLE,
    change: u32(16, 60),
    message: 'section "index" is at 60 to 76, expected within 64 to 136',
  },
  {
    name: 'an index over the end',
    base: EXAMPLE,
    change: u32(20, 0x80000000),
    message: 'section "index" is at 64 to 17179869248, expected within 64 to 136',
  },
  {
    name: 'nodes off the border of words',
    base: EXAMPLE,
    change: u32(24, 0x52),
    message: 'section "nodes" is at 82 to 104, expected within 80 to 136',
  },
  {
    name: 'nodes that end before they begin',
    base: EXAMPLE,
    change: u32(32, 0x4c),
    message: 'section "nodes" is at 80 to 76',
  },
  {
    name: 'sets over the end',
    base: EXAMPLE,
    change: u32(36, 140),
    message: 'section "sets" is at 104 to 140, expected within 104 to 136',
  },
  {
    name: 'IPv4 addresses among the sets',
    base: EXAMPLE,
    change: u32(40, 0x60),
    message: 'section "IPv4" is at 96 to 108, expected within 116 to 136',
  },
  {
    name: 'more IPv6 addresses than there is room for',
    base: EXAMPLE,
    change: u32(52, 1),
    message: 'section "IPv6" is at 128 to 152, expected within 128 to 136',
  },
  {
    name: 'namespaces over the end',
    base: EXAMPLE,
    change: u32(56, 140),
    message: 'section "namespaces" is at 140 to 136',
  },
  {
    name: 'a namespace over the end',
    base: EXAMPLE,
    change: u16(0x82, 5),
    message: 'a namespace overruns',
  },
  {
    name: 'a namespace whose size ends the shard',
    base: EXAMPLE,
    change: (view) => {
      view.setUint32(60, 3, true)
      view.setUint16(0x82, 2, true)
    },
    message: 'a namespace overruns',
  },
  {
    name: 'no namespace at all',
    base: EXAMPLE,
    change: u32(60, 0),
    message: 'the first namespace is not the empty one',
  },
  {
    name: 'a name for the first namespace',
    base: EXAMPLE,
    change: (view) => {
      view.setUint32(60, 1, true)
      view.setUint16(0x80, 6, true)
    },
    message: 'the first namespace is not the empty one',
  },
  {
    name: 'more nodes than the index points to',
    base: SERVICE,
    change: u32(28, 5),
    message: 'the index has 4 of 5 nodes',
  },
  {
    name: 'a node with more sets than there is room for',
    base: EXAMPLE,
    change: u8(0x51, 3),
    message: 'a node overruns',
  },
  {
    name: 'a node whose name is longer than there is room for',
    base: EXAMPLE,
    change: u8(0x50, 13),
    message: 'a node overruns',
  },
  {
    name: 'a missing node in a namespace',
    base: EXAMPLE,
    change: u16(0x52, 2),
    message: 'a node is in no namespace',
  },
  {
    name: 'a node with a label over its end',
    base: EXAMPLE,
    change: u8(0x5c, 4),
    message: 'the node at 80 has an invalid name',
  },
  {
    name: 'a node with a label of 64 bytes',
    base: [rrset(`${'a'.repeat(62)}.b 5 IN A 192.0.2.1`)],
    change: u8(0x74, 64),
    message: 'the node at 104 has an invalid name',
  },
  {
    name: 'a node whose name has no room for the root',
    base: [existingName(NAME_255)],
    change: () => undefined,
    message: 'has an invalid name',
  },
  {
    name: 'a record whose name has no room for the root',
    base: [{ ...rrset('a 5 IN CNAME b'), rdata: [{ bytes: EMPTY, target: labels(NAME_255) }] }],
    change: () => undefined,
    message: 'has an invalid name',
  },
  {
    name: 'a set outside of the sets',
    base: EXAMPLE,
    change: u32(0x58, 0x4c),
    message: 'no set is at 76',
  },
  {
    name: 'a set off the border of words',
    base: EXAMPLE,
    change: u32(0x58, 0x62),
    message: 'no set is at 98',
  },
  {
    name: 'a set at the end of the sets',
    base: EXAMPLE,
    change: u32(0x58, 0x74),
    message: 'no set is at 116',
  },
  {
    name: 'a set of nothing',
    base: EXAMPLE,
    change: u16(0x56, 0),
    message: 'the set at 96 is empty',
  },
  {
    name: 'addresses in the form of other types',
    base: EXAMPLE,
    change: u8(0x63, 2),
    message: 'the set at 96 has form 2, which type 1 does not have',
  },
  {
    name: 'another type in the form of addresses',
    base: EXAMPLE,
    change: u16(0x54, 16),
    message: 'the set at 96 has form 0, which type 16 does not have',
  },
  {
    name: 'another type in the form of SRV',
    base: SERVICE,
    change: u16(0xb0, 16),
    message: 'has form 1, which type 16 does not have',
  },
  {
    name: 'a form that there is not',
    base: MAIL,
    change: u8(0x63, 3),
    message: 'the set at 96 has the unknown form 3',
  },
  {
    name: 'more addresses than there is room for',
    base: EXAMPLE,
    change: u16(0x56, 5),
    message: 'the set at 96 overruns',
  },
  {
    name: 'a target between nodes',
    base: SERVICE,
    change: u32(0xcc, 0x94),
    message: 'has a target that is no node',
  },
  {
    name: 'more records than there is room for',
    base: MAIL,
    change: u16(0x56, 2),
    message: 'a record overruns',
  },
  {
    name: 'a record over the end',
    base: MAIL,
    change: u16(0x64, 9),
    message: 'a record overruns',
  },
  {
    name: 'a name over the end of its record',
    base: MAIL,
    change: u16(0x66, 99),
    message: 'a record overruns',
  },
  {
    name: 'a record with half a label',
    base: MAIL,
    change: u8(0x6a, 2),
    message: 'the record at 100 has an invalid name',
  },
  {
    name: 'a record that is not of its type',
    base: MAIL,
    change: u16(0x54, 257),
    message: 'the record at 100 is not of type 257',
  },
  {
    name: 'names that point to each other and so keep the size of their rdata',
    base: [rrset('a 5 IN TYPE65280 \\# 8 00000161c000c002')],
    change: u16(0x54, 26),
    message: 'the record at 100 is not of type 26',
  },
  {
    name: 'a relative name in a type that never ends in one',
    base: MAIL,
    change: u16(0x54, 18),
    message: 'the record at 100 has a name where type 18 has none',
  },
  {
    name: 'a relative name in a type that is not known',
    base: MAIL,
    change: u16(0x54, 65280),
    message: 'the record at 100 has a name where type 65280 has none',
  },
  {
    name: 'one set as two types',
    base: [rrset('a.x.y 5 IN AAAA 2001:db8::1'), rrset('b.a.x.y 5 IN AAAA 2001:db8::1')],
    change: u16(0xbc, 1),
    message: 'is used in two ways',
  },
  {
    name: 'one set with two counts',
    base: ['a.x.y', 'b.a.x.y'].map((name) => rrset(`${name} 5 IN TXT x\n${name} 5 IN TXT z`)),
    change: u16(0xba, 1),
    message: 'is used in two ways',
  },
  {
    name: 'sets within each other, which would take for ever to walk',
    base: [
      rrset([0, 1, 2, 3].map((i) => `a 5 IN A 192.0.2.${i}`).join('\n')),
      rrset('b 5 IN TXT x'),
    ],
    change: (view) => {
      view.setUint16(0x88, 1, true)
      view.setUint16(0x8a, 4, true)
      view.setUint32(0x8c, 0x74, true)
    },
    message: 'nodes or sets overlap',
  },
  {
    name: 'a slot that leads off the border of words',
    base: EXAMPLE,
    change: u32(0x4c, 0x52),
    message: 'slot 1 points to 82, which is no node',
  },
  {
    name: 'a slot that leads after the nodes',
    base: EXAMPLE,
    change: u32(0x4c, 0x68),
    message: 'slot 1 points to 104, which is no node',
  },
  {
    name: 'a slot that leads between nodes',
    base: EXAMPLE,
    change: u32(0x4c, 0x54),
    message: 'the node at 84 has an invalid name',
  },
  {
    name: 'a node without a slot',
    base: EXAMPLE,
    change: u32(0x4c, 0),
    message: 'the index has 0 of 1 nodes',
  },
  {
    name: 'a node in two slots, so that none is free',
    base: EXAMPLE,
    change: u32(0x44, 0x50),
    message: 'the node at 80 is in two slots',
  },
  {
    name: 'a missing address in a namespace',
    base: EXAMPLE,
    change: u16(0x7c, 2),
    message: 'an address is in no namespace',
  },
  {
    name: 'an address without names',
    base: EXAMPLE,
    change: u16(0x7e, 0),
    message: 'the set at 104 is empty',
  },
  {
    name: 'an address that points to addresses',
    base: EXAMPLE,
    change: u32(0x78, 0x60),
    message: 'the set at 96 is used in two ways',
  },
  {
    name: 'addresses in falling order',
    base: ADDRESSES,
    change: (view) => view.setUint32(view.getUint32(40, true), 0xc0000203, true),
    message: 'addresses are out of order',
  },
]

/** Builds the shard and changes it. */
export function patchedShard({ base, change }: Patch): Uint8Array {
  const [shard = new Uint8Array(0)] = buildShards(base)
  change(new DataView(shard.buffer))
  return shard
}
