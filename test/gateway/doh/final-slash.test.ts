import assert from 'node:assert/strict'
import { Hono } from 'hono/tiny'
import { describe, test } from 'vitest'
import { refuseFinalSlash } from '../../../src/gateway/doh/final-slash.ts'
import { errorResponse, HttpError, notFound } from '../../../src/gateway/doh/http-error.ts'

describe('a path', () => {
  const cases: { path: string; status: number }[] = [
    { path: '/', status: 200 },
    { path: '/a', status: 200 },
    { path: '/a?b=/', status: 200 },
    { path: '/a/', status: 404 },
    { path: '/a//', status: 404 },
    { path: '/b', status: 404 },
  ]
  for (const { path, status } of cases) {
    test(`${path} is ${status}`, async () => {
      const app = new Hono()
      app.onError((error) => {
        if (error instanceof HttpError) return errorResponse(error)
        throw error
      })
      app.notFound(() => errorResponse(notFound()))
      app.use(refuseFinalSlash)
      app.get('/', () => new Response('root'))
      app.get('/a', () => new Response('a'))
      assert.equal((await app.request(`http://gateway.example${path}`)).status, status)
    })
  }
})
