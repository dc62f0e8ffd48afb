/**
 * `kubedoh/dns`: names, messages and records in wire and zone-file form (RFC 1035).
 * @module
 */

export { equalNames, formatName, isSubdomain, nameOf, parseName } from '../dns/names/name.ts'
export { formatRcode, OPCODE, parseRcode, RCODE } from '../dns/names/rcode.ts'
export { formatType, parseType, TYPE } from '../dns/names/rr-type.ts'
export type { Question, Reply, ResourceRecord, Response } from '../dns/wire/message.ts'
export { parseResponse, writeReply } from '../dns/wire/message.ts'
export { FLAG } from '../dns/wire/query.ts'
export { type QueryFields, writeQuery } from '../dns/wire/write-query.ts'
export { formatRecord, parseFirstRecord } from '../snapshot/records/zone-text.ts'
