import { formatGoDuration, parseGoDuration } from '@addon-operator/strings/go-duration';
import { shellWord } from '@addon-operator/strings/shell-word';

console.log(parseGoDuration('1m30s'), formatGoDuration(90_000));
console.log(shellWord("it's"));
