/**
 * The bounds that pages state are those of the code; docs/failures.md has times in a table of its
 * own.
 * @module
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { constantValue, read } from './pages.ts'

const MIB = 1024 * 1024
const API = 'docs/http-api.md'
const DIRECTORY = 'src/gateway/access/cluster-directory.ts'
const FORWARD = 'docs/plugins/forward.md'

/** A text of a page with `#` for the number, in units of `unit`. */
const BOUNDS: readonly (readonly [
  page: string,
  text: string,
  unit: number,
  file: string,
  constant: string,
])[] = [
  [
    API,
    'the shard, at most # MiB',
    MIB,
    'src/gateway/snapshots/publish-routes.ts',
    'PUBLISHED_SHARD_BYTES_MAX',
  ],
  [
    API,
    'all optional, at most # KiB',
    1024,
    'src/gateway/routes/token-routes.ts',
    'BODY_BYTES_MAX',
  ],
  [API, 'Z`; at most # KiB', 1024, 'src/gateway/routes/token-restore.ts', 'BODY_BYTES_MAX'],
  ['SECURITY.md', 'A name has # characters', 1, 'src/gateway/doh/name-resolver.ts', 'NAME_MAX'],
  ['SECURITY.md', 'a type #, and all', 1, 'src/gateway/doh/name-resolver.ts', 'TYPE_MAX'],
  [API, '(default #)', 1, 'src/gateway/routes/token-routes.ts', 'GRACE_SECONDS'],
  [
    API,
    'is more than # minutes ahead',
    60_000,
    'src/gateway/snapshots/manifest-order.ts',
    'CLOCK_SKEW_MS',
  ],
  [API, 'took longer than # s', 1000, 'src/server/http/fetch-server.ts', 'BODY_TIMEOUT_MS'],
  [API, 'the gateway has # tokens', 1, 'src/gateway/access/token-store.ts', 'TOKENS_MAX'],
  [API, 'or # clusters in its directory', 1, DIRECTORY, 'DIRECTORY_MAX'],
  ['docs/operations.md', 'at most #. On Node the directory', 1, DIRECTORY, 'DIRECTORY_MAX'],
  [API, 'such lines, at most # MiB', MIB, 'src/gateway/access/backup.ts', 'BACKUP_BYTES_MAX'],
  [API, 'the token has # valid secrets', 1, 'src/gateway/access/token.ts', 'SECRETS_MAX'],
  [
    API,
    'more than # MiB of shards',
    MIB,
    'src/gateway/routes/generation-routes.ts',
    'DIFF_BYTES_MAX',
  ],
  [API, '`dns` is over # characters', 1, 'src/gateway/doh/app.ts', 'DNS_PARAMETER_MAX'],
  [API, 'its tokens for # s', 1000, 'src/gateway/access/token-book.ts', 'TRUST_MS'],
  [
    API,
    'the token # times during one rotation',
    1,
    'src/gateway/routes/token-routes.ts',
    'ATTEMPTS_MAX',
  ],
  [
    API,
    '# MiB of shards wait',
    MIB,
    'src/gateway/snapshots/unlisted-shards.ts',
    'UNLISTED_BYTES_MAX',
  ],
  [API, 'or wait # minutes', 60_000, 'src/gateway/snapshots/unlisted-shards.ts', 'UNLISTED_MS'],
  [
    'docs/failures.md',
    '# MiB of shards without',
    MIB,
    'src/gateway/snapshots/unlisted-shards.ts',
    'UNLISTED_BYTES_MAX',
  ],
  [
    'docs/failures.md',
    '# messages wait',
    1,
    'src/resolver/plugins/dnstap/setup.ts',
    'QUEUE_MESSAGES',
  ],
  ['docs/failures.md', '# spans wait', 1, 'src/resolver/plugins/trace/setup.ts', 'backlogMax'],
  [FORWARD, 'name upstreams | #,', 1, 'src/resolver/plugins/forward/options.ts', 'WORDS_MAX'],
  [
    FORWARD,
    'those from files | #',
    1,
    'src/resolver/plugins/forward/upstreams.ts',
    'UPSTREAMS_MAX',
  ],
  [
    FORWARD,
    'over all upstreams | # s',
    1000,
    'src/resolver/plugins/forward/forward.ts',
    'TOTAL_MS',
  ],
  [
    FORWARD,
    'which it is dropped | # s',
    1000,
    'src/resolver/plugins/forward/forward.ts',
    'CLIENT_MS',
  ],
  [
    FORWARD,
    '`max_connect_attempts 0` | #',
    1,
    'src/resolver/plugins/forward/forward.ts',
    'ATTEMPTS_MAX',
  ],
  [FORWARD, 'of one hostname | #', 1, 'src/server/upstream/host-addresses.ts', 'ADDRESSES_MAX'],
  [FORWARD, 'outlive a reload | #', 1, 'src/server/upstream/host-addresses.ts', 'NAMES_MAX'],
  [
    FORWARD,
    'looks every # seconds',
    1000,
    'src/resolver/plugins/forward/upstream-files.ts',
    'LOOK_MS',
  ],
  [FORWARD, 'waits # ms for a better', 1, 'src/server/upstream/udp-pool.ts', 'DOUBT_MS'],
  [FORWARD, 'for one upstream | #;', 1, 'src/server/upstream/udp-pool.ts', 'SOCKETS_MAX'],
  [FORWARD, 'wait for one upstream | #;', 1, 'src/server/upstream/udp-pool.ts', 'PENDING_MAX'],
  [
    FORWARD,
    'connections to one upstream | #',
    1,
    'src/server/upstream/connection-pool.ts',
    'CONNECTIONS_MAX',
  ],
  [
    FORWARD,
    'wait on one connection | #',
    1,
    'src/server/upstream/connection-pool.ts',
    'PENDING_MAX',
  ],
  [
    'docs/plugins/kubernetes.md',
    'At most # clusters',
    1,
    'src/corefile/kubernetes-options.ts',
    'CLUSTERS_MAX',
  ],
  [
    'docs/plugins/kubernetes.md',
    '`ttl #`',
    1,
    'src/corefile/kubernetes-options.ts',
    'OPENSHIFT3_TTL_SECONDS',
  ],
  [
    'docs/plugins/kubernetes.md',
    'from # s on',
    1000,
    'src/server/serve/cluster-sources.ts',
    'STALE_MS',
  ],
  [
    'docs/plugins/dnssec.md',
    'At most # keys',
    1,
    'src/resolver/plugins/dnssec/setup.ts',
    'KEYS_MAX',
  ],
  [
    'docs/plugins/dnssec.md',
    '# h before now',
    3600,
    'src/resolver/plugins/dnssec/signer.ts',
    'BEFORE_SECONDS',
  ],
  [
    'docs/plugins/dnssec.md',
    '# days after it',
    86_400,
    'src/resolver/plugins/dnssec/signer.ts',
    'AFTER_SECONDS',
  ],
  [
    'docs/plugins/dnstap.md',
    'holds # messages',
    1,
    'src/resolver/plugins/dnstap/setup.ts',
    'QUEUE_MESSAGES',
  ],
  [
    'docs/plugins/dnstap.md',
    'restored after # s',
    1000,
    'src/server/upstream/frame-stream.ts',
    'RETRY_MS',
  ],
  [
    'docs/plugins/bufsize.md',
    'at most # bytes (RFC 9715)',
    1,
    'src/dns/names/limits.ts',
    'UDP_BYTES_ADVERTISED',
  ],
  [
    'docs/plugins/bufsize.md',
    'bufsize #\n',
    1,
    'src/resolver/plugins/bufsize/bufsize.ts',
    'UDP_BYTES_MAX',
  ],
]

describe('bounds on pages', () => {
  for (const [page, text, unit, file, constant] of BOUNDS) {
    test(`${page} has ${constant} of ${file}`, () => {
      const value = constantValue(constant, read(file)) / unit
      const forms = [String(value), value.toLocaleString('en')]
      const found = forms.some((form) => read(page).includes(text.replace('#', form)))
      assert.ok(found, `expected "${text.replace('#', String(value))}"`)
    })
  }
})
