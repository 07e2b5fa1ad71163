import { Redactor } from '@addon-operator/masking/redactor';

const redactor = new Redactor();
redactor.add('hunter22');
console.log(redactor.text('login with hunter22'));
console.log(redactor.text(`password: ${Buffer.from('hunter22').toString('base64')}`));
