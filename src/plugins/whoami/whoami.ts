/**
 * The `whoami` plugin: answers with the client's address, port and transport.
 * @module
 */
import { writeUint16 } from '../../bytes/bytes.ts'
import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Request } from '../../chain/request.ts'
import { onlyArgs } from '../../corefile/arguments.ts'
import { parseAddress } from '../../dns/address.ts'
import { EMPTY_REPLY, type Reply } from '../../dns/message.ts'
import { joinName, nameOf } from '../../dns/name.ts'
import { TYPE } from '../../dns/rr-type.ts'

/** Configures `whoami`. */
export const whoamiPlugin: PluginEntry = {
  name: 'whoami',
  counts: 'first',
  answers: { takesAll: true },
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
