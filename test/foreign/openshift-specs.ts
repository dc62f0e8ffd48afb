/**
 * Specs of OpenShift's DNS object, valid and invalid, one field at a time.
 * @module
 */
const TLS = { transport: 'TLS', tls: { serverName: 'dns.example.org' } }
const NETWORK = { type: 'Network', address: '192.0.2.1' }

/** Returns a spec with one server block. */
function server(fields: object, forwardPlugin: object = {}): object {
  const forward = { upstreams: ['192.0.2.1'], ...forwardPlugin }
  return { servers: [{ name: 'a', zones: ['example.org'], ...fields, forwardPlugin: forward }] }
}

function resolvers(fields: object): object {
  return { upstreamResolvers: fields }
}

/** The specs. */
export const DNS_SPECS: readonly object[] = [
  {},
  ...['Normal', 'Debug', 'Trace', 'debug', 'Verbose', 7].map((logLevel) => ({ logLevel })),
  ...['Normal', 'Everything'].map((operatorLogLevel) => ({ operatorLogLevel })),
  ...['Managed', 'Removed', 'Off'].map((managementState) => ({ managementState })),
  ...['30s', '0', '1h30m', '1.5m', '400ms', '', '5', '-5s', '1d', 30].flatMap((positiveTTL) => [
    { cache: { positiveTTL } },
    { cache: { negativeTTL: positiveTTL } },
  ]),
  { servers: {} },
  { servers: [] },
  server({}),
  server({ zones: ['example.org', 'example.com'] }),
  server({ zones: 'example.org' }),
  server({ name: 5 }),
  server({}, { upstreams: ['192.0.2.1:5353', '2001:db8::1', '[2001:db8::1]:53'] }),
  server({}, { upstreams: '192.0.2.1' }),
  server({}, { upstreams: Array.from({ length: 15 }, (_, i) => `192.0.2.${i}`) }),
  server({}, { upstreams: Array.from({ length: 16 }, (_, i) => `192.0.2.${i}`) }),
  ...['Random', 'RoundRobin', 'Sequential', 'sequential', 'First', ''].flatMap((policy) => [
    server({}, { policy }),
    resolvers({ policy }),
  ]),
  ...['TCP', '', 'UDP', 'tcp'].flatMap((protocolStrategy) => [
    server({}, { protocolStrategy }),
    resolvers({ protocolStrategy }),
  ]),
  ...['TLS', 'Cleartext', '', 'QUIC'].map((transport) =>
    server({}, { transportConfig: { ...TLS, transport } }),
  ),
  ...['dns.example.org', 'dns_example', '-a.example', `${'a'.repeat(64)}.org`].map((serverName) =>
    server({}, { transportConfig: { transport: 'TLS', tls: { serverName } } }),
  ),
  server({}, { transportConfig: { transport: 'TLS', tls: {} } }),
  server({}, { transportConfig: { tls: {} } }),
  server({}, { transportConfig: { ...TLS, tls: { ...TLS.tls, caBundle: { name: 'ca' } } } }),
  server({}, { transportConfig: { ...TLS, tls: { ...TLS.tls, caBundle: {} } } }),
  resolvers({}),
  resolvers({ upstreams: [] }),
  resolvers({ upstreams: [NETWORK] }),
  resolvers({ upstreams: [{ ...NETWORK, port: 5353 }] }),
  ...[0, 65536, 5.5, '53'].map((port) => resolvers({ upstreams: [{ ...NETWORK, port }] })),
  ...['192.0.2.1', '2001:db8::1', '192.0.2.300', 'dns.example.org', ''].map((address) =>
    resolvers({ upstreams: [{ type: 'Network', address }] }),
  ),
  resolvers({ upstreams: [{ type: 'Network' }] }),
  resolvers({ upstreams: [{ type: 'SystemResolvConf' }] }),
  resolvers({ upstreams: [{ type: '' }, NETWORK] }),
  resolvers({ upstreams: [{ type: 'SystemResolvConf', address: 'dns.example.org' }] }),
  resolvers({ upstreams: [{ type: 'Local' }] }),
  resolvers({ upstreams: [{ address: '192.0.2.1' }] }),
  resolvers({ upstreams: Array.from({ length: 16 }, () => NETWORK) }),
  resolvers({ upstreams: [NETWORK], transportConfig: TLS }),
]
