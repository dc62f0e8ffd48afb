/**
 * `kubedoh/dns`: names, messages and records in wire and zone-file form (RFC 1035).
 * @module
 */
export type { Question, Reply, ResourceRecord, Response } from '../dns/message.ts'
export { parseResponse, writeReply } from '../dns/message.ts'
export { equalNames, formatName, isSubdomain, nameOf, parseName } from '../dns/name.ts'
export { FLAG } from '../dns/query.ts'
export { formatRcode, OPCODE, parseRcode, RCODE } from '../dns/rcode.ts'
export { formatType, parseType, TYPE } from '../dns/rr-type.ts'
export { type QueryFields, writeQuery } from '../dns/write-query.ts'
export { formatRecord, parseFirstRecord } from '../records/zone-text.ts'
