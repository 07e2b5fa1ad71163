export { didYouMean, similarWord } from '@addon-operator/json/similar-word';
