/**
 * The `any` plugin: answers queries for type ANY with one HINFO record (RFC 8482 §4.2).
 * @module
 */
import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Request } from '../../chain/request.ts'
import { onlyArgs } from '../../corefile/arguments.ts'
import { EMPTY_REPLY, type Reply } from '../../dns/message.ts'
import { ROOT } from '../../dns/name.ts'
import { parseRdata } from '../../dns/rdata-text.ts'
import { CLASS } from '../../dns/rr-class.ts'
import { TYPE } from '../../dns/rr-type.ts'

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
