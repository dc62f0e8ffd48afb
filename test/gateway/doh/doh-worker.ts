/**
 * The app of these tests as a Worker.
 * @module
 */
import { DurableObject } from 'cloudflare:workers'
import { fakeApp } from './fake-app.ts'

/** Bound because the gateway's configuration binds them; never used. */
export class ClusterObject extends DurableObject {}
/** Likewise. */
export class TokenObject extends DurableObject {}

const app = fakeApp()

export default {
  fetch(request: Request): Response | Promise<Response> {
    return app.fetch(request)
  },
}
