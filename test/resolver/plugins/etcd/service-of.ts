/**
 * Services for tests, from what a value would say.
 * @module
 */
import { type EtcdService, parseService } from '../../../../src/resolver/plugins/etcd/service.ts'

/** Reads a service. @throws {TypeError} when it is none */
export function serviceOf(value: unknown, key = '/skydns/org/example/www'): EtcdService {
  const service = parseService({ key, value: JSON.stringify(value), lease: '' })
  if (typeof service === 'string') throw new TypeError(service)
  return service
}
