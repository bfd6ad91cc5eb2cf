// Pages that people use come before decisions, internals and the changelog.
const behind = /^(docs\/decisions|docs\/internals|CHANGELOG)/;
var Scorer = {
  score: (result) => result[4] - (behind.test(result[0]) ? 20 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
