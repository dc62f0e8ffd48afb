/**
 * Where things stand in a shard. README.md beside this file draws it and explains each part.
 *
 * All numbers are little-endian, so that they can be read in place through typed arrays.
 * @module
 */

/** First four bytes of a shard: `KDS` and the version. */
export const MAGIC = 0x3353444b
/** Feature bits that this build understands; a shard with another one set is refused. */
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

/** How the items of a set are written: the upper 8 bits of its first word, its TTL the lower 24. */
export const FORM = {
  /** Rdata of equal size: 4 bytes for A, 16 for AAAA. */
  FIXED: 0,
  /** SRV: 6 bytes of rdata; in 2, whether an item before has the target too; its node in 4. */
  TARGETS: 1,
  /**
   * Size of the rdata in 2 bytes; in 2 more, 1 and the size of a name below the origin that ends
   * it, or 0; the rdata; the name's labels.
   */
  PARTS: 2,
} as const

/** Bytes of an item of form TARGETS. */
export const TARGET_BYTES = 12
/** Bytes in front of an item of form PARTS. */
export const PARTS_BYTES = 4
/** Bytes of a slot of the index: hash and offset of the node. */
export const SLOT_BYTES = 8
/** Bytes of a node in front of its references to sets. */
export const NODE_BYTES = 4
/** Bytes of a node's reference to a set: type, number of records, offset. */
export const SET_REF_BYTES = 8
/** Bit in a node's set count that says that the names of addresses are below it. */
export const ADDRESS_NAMES_BIT = 0x80
/** Greatest number of types at one name. */
export const SETS_PER_NODE_MAX = 0x7f
/** Bit in a node's namespace that says that the name exists only because of names below it. */
export const IMPLIED_BIT = 0x4000
/** Bit in a node's namespace that says that the name only goes along with other records. */
export const GLUE_BIT = 0x8000
/** The same two bits in the first word of a node. */
export const IMPLIED_MARK: number = IMPLIED_BIT << 16
/** The second of them. */
export const GLUE_MARK: number = GLUE_BIT << 16
/** Bit in an address's namespace that says that a Pod of the namespace has it. */
export const POD_BIT = 0x8000
/** Bit in an address's namespace that says that its names yield to those of other namespaces. */
export const YIELDING_BIT = 0x4000
/** Greatest number of records in one set. */
export const RECORDS_PER_SET_MAX = 0xffff
/** Greatest TTL that a set can hold. */
export const SET_TTL_MAX = 0xffffff
/** Greatest number of namespaces with names in one shard. */
export const NAMESPACES_MAX = 0x3fff
/** Bytes a shard may have. */
export const SHARD_BYTES_MAX: number = 256 * 1024 * 1024
