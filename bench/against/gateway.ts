/**
 * Requests to the gateway, in workerd and on Node over HTTP/2 and TLS: CPU time of the server for
 * one.
 * @module
 */
import { nameOf } from '../../src/dns/names/name.ts'
import { TYPE } from '../../src/dns/names/rr-type.ts'
import { writeQuery } from '../../src/dns/wire/write-query.ts'
import { startGateway } from '../../test/workerd.ts'
import { FollowedCluster } from '../followed-cluster.ts'
import { type Asking, costOf, prepareLoad } from '../gateway-load.ts'
import {
  type BenchServer,
  benchGatewayOf,
  publishTo,
  startOurs,
  tokenFrom,
} from '../gateway-servers.ts'
import { pinToLoadCore, pinToServerCore, prepareProgram } from '../server-processes.ts'
import type { Contest, Costs } from './rounds.ts'

const RECORDS = 100_000
const QUESTIONS = 1024
/** Requests of a phase: a third of a second of CPU time. */
const REQUESTS = { workerd: 3000, 'Node, HTTP/2': 10_000 } as const
/** Phases that are not counted: compilers are at work for some 60,000 requests. */
const WARM_UP_PHASES = 3

/** Generates a cluster. */
export async function prepareGateway(): Promise<Contest> {
  const missing = prepareLoad() ?? prepareProgram('taskset', 'util-linux')
  if (missing !== undefined) throw new Error(missing)
  pinToLoadCore()
  // The benchmark trusts the authority of its own certificates.
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  const cluster = new FollowedCluster(RECORDS)
  const built = cluster.build()
  const messages = cluster.services
    .filter(({ isHeadless }) => !isHeadless)
    .slice(0, QUESTIONS)
    .map(({ name, namespace }) => nameOf(`${name}.${namespace}.svc.cluster.local`))
    .map((name) => writeQuery({ name, type: TYPE.A }))
  const { keys, variables } = await benchGatewayOf()
  return {
    start: async ({ worker, entry }) => {
      const servers = {
        workerd: await startGateway({ port: 0, variables, entry: worker }),
        'Node, HTTP/2': await startOurs(variables, true, { entry }),
      }
      const phases: (() => Promise<Costs>)[] = []
      for (const where of ['workerd', 'Node, HTTP/2'] as const) {
        const { url, pid } = servers[where]
        pinToServerCore(pid)
        await publishTo(url, keys, built)
        const headers = { authorization: `Bearer ${await tokenFrom(url, ['*'])}` }
        for (const method of ['GET', 'POST'] as const) {
          const asking: Asking = { url, messages, method, headers }
          phases.push(async () => ({
            [`CPU for a ${method}, ${where}`]: await costOf(pid, asking, REQUESTS[where]),
          }))
        }
      }
      for (let i = 0; i < WARM_UP_PHASES; i++) for (const phase of phases) await phase()
      const running: readonly Pick<BenchServer, 'pid' | 'stop'>[] = Object.values(servers)
      return {
        pids: running.map(({ pid }) => pid),
        start: {},
        phases,
        stop: () => Promise.all(running.map((server) => server.stop())),
      }
    },
    stop: () => Promise.resolve(),
  }
}
