/**
 * The `whoami` plugin: answers with the client's address, port and transport.
 * @module
 */

import { onlyArgs } from '../../../corefile/arguments.ts'
import { writeUint16 } from '../../../dns/bytes/bytes.ts'
import { parseAddress } from '../../../dns/names/address.ts'
import { joinName, nameOf } from '../../../dns/names/name.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { EMPTY_REPLY, type Reply } from '../../../dns/wire/message.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Request } from '../../contract/request.ts'

/** Configures `whoami`. */
export const whoamiPlugin: PluginEntry = {
  name: 'whoami',
  counts: 'first',
  answers: { takesAll: true },
  variesByClient: () => true,
  setup: (directives) => {
    onlyArgs(directives, 0)
    return { plugins: [{ name: 'whoami', serve: answer }] }
  },
}

function answer({ name, class: rrClass, client }: Request): Reply {
  const rdata = parseAddress(client.address) ?? new Uint8Array(4)
  const type = rdata.length === 4 ? TYPE.A : TYPE.AAAA
  const transport = client.transport === 'udp' ? 'udp' : 'tcp'
  const label = nameOf(`_${transport}`).subarray(0, -1)
  const service = new Uint8Array(7)
  writeUint16(service, 4, client.port)
  const common = { class: rrClass, ttlSeconds: 0 }
  return {
    ...EMPTY_REPLY,
    authoritative: true,
    additional: [
      { owner: name, type, rdata, ...common },
      { owner: joinName(label, name) ?? name, type: TYPE.SRV, rdata: service, ...common },
    ],
  }
}
