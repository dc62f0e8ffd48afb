import { whyNotAt } from './published-clusters.ts'
import { testRecordedAnswers } from './recorded-answers.ts'
import { openWorker, whyNotCaseInWorker } from './worker-transport.ts'

testRecordedAnswers({
  name: 'the gateway in workerd',
  open: openWorker,
  isDoh: true,
  hasOwnClock: true,
  whyNot: whyNotAt('worker'),
  whyNotCase: whyNotCaseInWorker,
})
