import { testRecordedAnswers } from './recorded-answers.ts'
import { openWorker, whyNotAtTheEdge, whyNotCaseAtTheEdge } from './worker-transport.ts'

testRecordedAnswers({
  name: 'the gateway in workerd',
  open: openWorker,
  isDoh: true,
  whyNot: whyNotAtTheEdge,
  whyNotCase: whyNotCaseAtTheEdge,
})
