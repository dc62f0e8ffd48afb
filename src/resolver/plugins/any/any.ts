/**
 * The `any` plugin: answers queries for type ANY with one HINFO record (RFC 8482 §4.2).
 * @module
 */

import { onlyArgs } from '../../../corefile/arguments.ts'
import { ROOT } from '../../../dns/names/name.ts'
import { CLASS } from '../../../dns/names/rr-class.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { EMPTY_REPLY, type Reply } from '../../../dns/wire/message.ts'
import { parseRdata } from '../../../dns/wire/rdata-text.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Request } from '../../contract/request.ts'

const TTL_SECONDS = 8482
const HINFO = parseRdata(TYPE.HINFO, ['ANY obsoleted', 'See RFC 8482'], ROOT) ?? new Uint8Array(0)

/** Configures `any`. */
export const anyPlugin: PluginEntry = {
  name: 'any',
  counts: 'first',
  answers: { takesAll: false },
  setup: (directives) => {
    onlyArgs(directives, 0)
    return {
      plugin: {
        name: 'any',
        fastPath: { needsSlowPath: (query) => query.type === TYPE.ANY },
        serve: (request, next) => (request.type === TYPE.ANY ? answer(request) : next(request)),
      },
    }
  },
}

function answer({ name }: Request): Reply {
  const record = { owner: name, type: TYPE.HINFO, class: CLASS.IN, rdata: HINFO }
  return { ...EMPTY_REPLY, answer: [{ ...record, ttlSeconds: TTL_SECONDS }] }
}
