/**
 * A Worker that tries what a store promises on the database of a Durable Object, a new one for each
 * promise. `/N` answers 200 when promise N holds, and else 500 with the reason; `/tokens/N` does the
 * same for the store of tokens, which it reaches as the gateway does. `/faults/FROM-COUNT` plays
 * seeded runs on a database that fails, and answers with their figures.
 * @module
 */
import { DurableObject } from 'cloudflare:workers'

import { SqlStore } from '../../worker/sql-store.ts'
import type { TokenObject } from '../../worker/token-object.ts'
import { STORE_PROMISES } from '../gateway/store-contract.ts'
import { type FaultTally, playFaults } from '../gateway/store-faults.ts'
import { TOKEN_STORE_PROMISES } from '../gateway/token-store-contract.ts'

import { sqlMedium } from './sql-medium.ts'

export { TokenObject } from '../../worker/token-object.ts'

type Env = {
  readonly CLUSTER: DurableObjectNamespace<ClusterObject>
  readonly TOKENS: DurableObjectNamespace<TokenObject>
}

/** A database. */
export class ClusterObject extends DurableObject<Env> {
  /** Plays runs from a seed on. */
  playFaults(from: number, count: number): Promise<FaultTally> {
    const seeds = Array.from({ length: count }, (_, i) => from + i)
    return playFaults(seeds, turn, () => sqlMedium(this.ctx.storage))
  }

  /** Tries one promise, and says why it does not hold; '' when it does. */
  async hold(index: number): Promise<string> {
    try {
      await STORE_PROMISES[index]?.hold(new SqlStore(this.ctx.storage))
      return ''
    } catch (error) {
      return String(error)
    }
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const [, which = '', text = which] = new URL(request.url).pathname.split('/')
    if (which === 'faults') {
      const [from = 0, count = 0] = text.split('-').map(Number)
      return Response.json(await env.CLUSTER.getByName('faults').playFaults(from, count))
    }
    const index = Number(text)
    const reason =
      which === 'tokens'
        ? await holdTokens(env.TOKENS.getByName(`tokens-${index}`), index)
        : await env.CLUSTER.getByName(`store-${index}`).hold(index)
    return new Response(reason, { status: reason === '' ? 200 : 500 })
  },
}

async function holdTokens(object: DurableObjectStub<TokenObject>, index: number): Promise<string> {
  try {
    await TOKEN_STORE_PROMISES[index]?.hold({
      list: async () => object.list(),
      add: async (record) => object.add(record),
      replace: async (before, next) => object.replace(before, next),
      remove: async (id) => object.remove(id),
    })
    return ''
  } catch (error) {
    return String(error)
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
