/**
 * Valid and invalid HostRoutes, for the parser and for a real API server with the schema.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { PATHS_MAX } from '../../src/cluster/objects/parse-host-route.ts'

const CRDS = join(import.meta.dirname, '../../deploy/crds/templates')

/** The custom resource definition. */
export const ROUTE_DEFINITION: unknown = parse(
  readFileSync(join(CRDS, 'hostroutes.kubedoh.dev.yaml'), 'utf8'),
)

const L63 = 'l'.repeat(63)
const LONGEST = `${L63}.${L63}.${L63}.${'l'.repeat(56)}`

/** A spec with one path. */
export function routeTo(path: unknown, some: object = {}): Record<string, unknown> {
  return { host: 'shop.a.test', paths: [{ path, service: 'web', port: 80, ...some }] }
}

function routes(count: number): unknown[] {
  return Array.from({ length: count }, (_, i) => ({ path: `/${i}`, service: 'web', port: 80 }))
}

/** Specs that both accept. */
export const VALID_ROUTES: readonly unknown[] = [
  routeTo('/'),
  routeTo('/shop'),
  routeTo('/.well-known/acme-challenge'),
  routeTo('/a/B/c-1_2.3~'),
  routeTo(`/${'p'.repeat(252)}`),
  routeTo('/x', { service: '1a-b', port: 65535 }),
  { ...routeTo('/'), host: 'localhost' },
  { ...routeTo('/'), host: LONGEST },
  { ...routeTo('/'), paths: routes(PATHS_MAX) },
]

/** Paths that no router must see, because a configuration file or a URL gives them a meaning. */
export const HOSTILE_PATHS: readonly string[] = [
  '',
  'shop',
  '/shop/',
  '//shop',
  '/a//b',
  '/.',
  '/..',
  '/a/../b',
  '/a/..b',
  '/a b',
  '/a;b',
  '/a{b',
  '/a}b',
  '/a"b',
  "/a'b",
  '/a\\b',
  '/a$uri',
  '/a%2e',
  '/a?b',
  '/a#b',
  '/a\nb',
  '/a\n',
  '/ä',
  '/a;}server{listen 81;',
  `/${'p'.repeat(253)}`,
]

/** Hosts that no router must see. */
export const HOSTILE_HOSTS: readonly string[] = [
  '',
  '*.a.test',
  'a.test.',
  'A.test',
  'a..test',
  '-a.test',
  'a-.test',
  '~^.*$',
  'a.test b.test',
  'a.test;',
  'a_b.test',
  '"a.test"',
  'a.test\n',
  `${L63}l.test`,
  `${LONGEST}l`,
]

/** Specs that both refuse. */
export const INVALID_ROUTES: readonly unknown[] = [
  {},
  { host: 'a.test' },
  { host: 'a.test', paths: [] },
  { paths: routes(1) },
  { ...routeTo('/'), paths: routes(PATHS_MAX + 1) },
  { ...routeTo('/'), paths: [...routes(1), ...routes(1)] },
  routeTo('/', { port: 0 }),
  routeTo('/', { port: 65536 }),
  routeTo('/', { port: undefined }),
  routeTo('/', { service: undefined }),
  routeTo('/', { service: 'Web' }),
  routeTo('/', { service: 'web.other' }),
  routeTo('/', { service: 'web;' }),
  routeTo('/', { service: 's'.repeat(64) }),
  routeTo(undefined),
  ...HOSTILE_PATHS.map((path) => routeTo(path)),
  ...HOSTILE_HOSTS.map((host) => ({ ...routeTo('/'), host })),
]
