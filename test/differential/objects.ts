/**
 * The objects of the places that read the cluster.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { ApiObject } from '../real-cluster/api-server.ts'
import { rareObjects, shopObjects, slice } from '../real-cluster/objects.ts'

const LARGE = 40

/** Returns the shop, the rare cases, those of `objects.yaml`, and a Service of 40 endpoints. */
export function clusterObjects(): ApiObject[] {
  const text = readFileSync(join(import.meta.dirname, 'objects.yaml'), 'utf8')
  const odd = parseAllDocuments(text).map((document): ApiObject => document.toJS())
  const endpoints = Array.from({ length: LARGE }, (_, i) => ({ addresses: [`10.244.80.${i}`] }))
  const ports = ['a', 'b', 'c'].map((name, i) => ({ name, port: i + 1 }))
  const large = slice('gilt/large-1', 'large', endpoints, { ports })
  return [...shopObjects(), ...rareObjects(), ...odd, large]
}
