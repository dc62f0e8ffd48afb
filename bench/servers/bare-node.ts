/**
 * The bare app on Node, over TLS: `bare-node.ts CERT KEY` prints its port.
 * @module
 */
import { readFileSync } from 'node:fs'
import { HttpServer } from '../../src/server/http/http-server.ts'
import { bareApp } from './bare-app.ts'

const [, , cert = '', key = ''] = process.argv
const tls = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
const server = new HttpServer(bareApp(), { tls: { ...tls, clientAuth: 'nocert' } })
process.stdout.write(`ready: ${await server.listen('127.0.0.1', 0)}\n`)
