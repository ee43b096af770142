-- A value added to a type can be used only after the transaction that added it.
insert into thing values (1, 'blue');
