/**
 * A server of one plugin, for what the resolver does around plugins.
 * @module
 */
import assert from 'node:assert/strict'
import { ROOT } from '../../../src/dns/names/name.ts'
import { compileFastPath } from '../../../src/resolver/chain/fast-path.ts'
import type { Listener, ServedZone } from '../../../src/resolver/chain/listener.ts'
import { Resolver } from '../../../src/resolver/chain/resolver.ts'
import { failure } from '../../../src/resolver/contract/outcome.ts'
import type { Plugin } from '../../../src/resolver/contract/plugin.ts'
import type { Request } from '../../../src/resolver/contract/request.ts'
import { Server } from '../../ask.ts'
import { FakeHost } from '../../fake-host.ts'

/** A server whose only plugin is the given one. */
export function serveWith(plugin: Plugin): Server {
  const host = new FakeHost()
  const next = (): never => assert.fail('there is no next plugin')
  const chain: ServedZone['chain'] = {
    plugins: [plugin],
    features: [],
    notices: [],
    serve: (request) => plugin.serve?.(request, next) ?? next(),
    fastPath: compileFastPath([plugin]),
    observers: plugin.observe === undefined ? [] : [plugin.observe],
    admits: plugin.admits,
    takesAnyClass: false,
    explainsRefusals: false,
  }
  const listener: Listener = {
    transport: 'dns',
    port: 53,
    addresses: [],
    except: [],
    bounds: {},
    zones: [{ zone: ROOT, chain }],
    takesAnyClass: false,
  }
  return new Server(new Resolver([listener], [chain], host), host)
}

/** The request that a question comes to a plugin as. */
export async function requestOf(question: string): Promise<Request> {
  const requests: Request[] = []
  const server = serveWith({
    name: 'test',
    serve: (request) => {
      requests.push(request)
      return failure(2)
    },
  })
  await server.ask(question)
  return requests[0] ?? assert.fail('the question did not arrive')
}
