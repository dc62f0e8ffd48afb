/**
 * A Worker that tries what a store promises on the database of a Durable Object, a new one for each
 * promise. `/N` answers 200 when promise N holds, and else 500 with the reason.
 * @module
 */
import { DurableObject } from 'cloudflare:workers'
import { createSqlStore } from '../../worker/sql-store.ts'
import { STORE_PROMISES } from '../gateway/store-contract.ts'

type Env = { readonly CLUSTER: DurableObjectNamespace<ClusterObject> }

/** A database. */
export class ClusterObject extends DurableObject<Env> {
  /** Tries one promise, and says why it does not hold; '' when it does. */
  async hold(index: number): Promise<string> {
    try {
      await STORE_PROMISES[index]?.hold(createSqlStore(this.ctx.storage))
      return ''
    } catch (error) {
      return String(error)
    }
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const index = Number(new URL(request.url).pathname.slice(1))
    const reason = await env.CLUSTER.getByName(`store-${index}`).hold(index)
    return new Response(reason, { status: reason === '' ? 200 : 500 })
  },
}
