import gateway from 'kubedoh/worker'

export { AuditObject, ClusterObject, NameService, TokenObject } from 'kubedoh/worker'

export default {
  fetch(request, env, context) {
    if (new URL(request.url).pathname === '/hello') return new Response('Hello from my Worker\n')
    return gateway.fetch(request, env, context)
  },
}
