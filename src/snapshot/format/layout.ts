/**
 * The layout of a shard, as ../README.md describes it.
 *
 * All numbers are little-endian, so that typed arrays read them in place.
 * @module
 */
/** First four bytes of a shard: `KDS` and the version. */
export const MAGIC = 0x3353444b
/** Feature bits that this build understands; `openShard` refuses a shard with another one. */
export const FEATURES_KNOWN = 0
/** Bytes of the header. */
export const SHARD_HEADER_BYTES = 64

/** Index of each field in the header, in 32-bit words. */
export const HEADER = {
  MAGIC: 0,
  FEATURES: 1,
  BYTES: 2,
  SEED: 3,
  SLOTS: 4,
  SLOT_COUNT: 5,
  NODES: 6,
  NODE_COUNT: 7,
  SETS: 8,
  SETS_END: 9,
  ADDRESS4: 10,
  ADDRESS4_COUNT: 11,
  ADDRESS6: 12,
  ADDRESS6_COUNT: 13,
  NAMESPACES: 14,
  NAMESPACE_COUNT: 15,
} as const

/** The form of a set's records: the upper 8 bits of its first word. The TTL is the lower 24. */
export const FORM = {
  /** Rdata of equal size: 4 bytes for A, 16 for AAAA. */
  FIXED: 0,
  /** SRV: 6 bytes of rdata; 2 bytes, whether an earlier item has the same target; 4, its node. */
  TARGETS: 1,
  /**
   * Size of the rdata in 2 bytes; in 2 more, 1 and the size of a name below the origin that ends
   * it, or 0; the rdata; the name's labels.
   */
  PARTS: 2,
} as const

/** Bytes of an item of form TARGETS. */
export const TARGET_BYTES = 12
/** Bytes before an item of form PARTS. */
export const PARTS_BYTES = 4
/** Bytes of a slot of the index: hash and offset of the node. */
export const SLOT_BYTES = 8
/** Bytes of a node before its references to sets. */
export const NODE_BYTES = 4
/** Bytes of a node's reference to a set: type, number of records, offset. */
export const SET_REF_BYTES = 8
/** Bit in a node's set count: names of addresses exist below it. */
export const ADDRESS_NAMES_BIT = 0x80
/** Most types at one name. */
export const SETS_PER_NODE_MAX = 0x7f
/** Bit in a node's namespace: the name exists only because of names below it. */
export const IMPLIED_BIT = 0x4000
/** Bit in a node's namespace: its records are for the additional section only. */
export const GLUE_BIT = 0x8000
/** `IMPLIED_BIT` in the first word of a node. */
export const IMPLIED_MARK: number = IMPLIED_BIT << 16
/** `GLUE_BIT` in the first word of a node. */
export const GLUE_MARK: number = GLUE_BIT << 16
/** Bit in a row's namespace: a Pod of the namespace has the address. */
export const POD_BIT = 0x8000
/** Bit in a row's namespace: its names yield to those of other namespaces. */
export const YIELDING_BIT = 0x4000
/** Most records in one set. */
export const RECORDS_PER_SET_MAX = 0xffff
/** Greatest TTL of a set, in seconds. */
export const SET_TTL_MAX = 0xffffff
/** Most namespaces in one shard, the empty one aside. */
export const NAMESPACES_MAX = 0x3fff
/** Most bytes of a shard. */
export const SHARD_BYTES_MAX: number = 256 * 1024 * 1024

/** A shard or a manifest is invalid. The previous snapshot stays in use. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError'
}
