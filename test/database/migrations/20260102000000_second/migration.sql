alter type colour add value 'blue';
