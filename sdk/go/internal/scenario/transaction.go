package scenario

import (
	"context"
	"errors"
	"fmt"

	"cairn.invalid/cairn"
)

// Begin begins the caller's own transaction on a store.
type Begin func(ctx context.Context, url string) (*Transaction, error)

// Transaction is one that is open. End also closes its connection.
type Transaction struct {
	Tx   *cairn.Tx
	Exec func(statement string) error
	End  func(commit bool) error
}

// transaction closes the engine meanwhile: two copies of SQLite must not open one file.
func (s *story) transaction(ctx context.Context, a *action) error {
	if err := s.db.Close(); err != nil {
		return err
	}
	made, err := s.transact(ctx, a)
	if err != nil {
		return err
	}
	if s.db, err = open(ctx, s.url); err != nil {
		return err
	}
	for name, n := range s.named {
		if n.job != nil {
			s.named[name] = named{job: cairn.JobOf[raw](s.db, n.job.ID)}
		} else {
			s.named[name] = named{instance: cairn.InstanceOf[raw](s.db, n.instance.ID)}
		}
	}
	for _, one := range made {
		if one.Enqueue != nil {
			s.keep(one.action, named{job: cairn.JobOf[raw](s.db, one.id)})
		} else {
			s.keep(one.action, named{instance: cairn.InstanceOf[raw](s.db, one.id)})
		}
	}
	return nil
}

type recorded struct {
	*action
	id string
}

func (s *story) transact(ctx context.Context, a *action) ([]recorded, error) {
	tx, err := s.begin(ctx, s.url)
	if err != nil {
		return nil, err
	}
	var made []recorded
	err = errors.Join(tx.Exec("CREATE TABLE IF NOT EXISTS parity_order (n integer)"), tx.Exec("INSERT INTO parity_order VALUES (1)"))
	for i := range a.Transaction {
		one := &a.Transaction[i]
		if err != nil {
			break
		}
		var id cairn.TxID
		if id, err = s.record(ctx, tx.Tx, one); err == nil {
			made = append(made, recorded{one, id.ID})
		}
		var refused *cairn.Error
		if errors.As(err, &refused) && refused.Code == one.Error {
			err = nil
		} else if err == nil && id.Existing != one.Gives["existing"] {
			err = fmt.Errorf("existing is %v", id.Existing)
		}
	}
	return made, errors.Join(err, tx.End(a.End == "commit"))
}

func (s *story) record(ctx context.Context, tx *cairn.Tx, a *action) (cairn.TxID, error) {
	if a.Enqueue != nil {
		return tx.Enqueue(ctx, a.Enqueue.Type, given(a.Enqueue.Payload), s.jobOptions(a.Enqueue))
	}
	return tx.Start(ctx, a.Start.Workflow, given(a.Start.Input), &cairn.StartOptions{Key: a.Start.Key, At: s.at(a.Start.StartAt)})
}
