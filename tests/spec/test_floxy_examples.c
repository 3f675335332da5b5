/* tests/spec/test_floxy_examples.c - the workflow files in examples/, executed: those of the
 * document (sections 5.3, 5.4, 7.2.1, 8.8, 11.4, 11.7, 14.1, 14.2) and our own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

#include <stdio.h>
#include <stdlib.h>

/* Opens a world, deploys a file of $CAIRN_EXAMPLES and starts one instance. */
static void begin(struct flow_world *fw, const char *file, const char *workflow,
                  const char *input)
{
    char path[500], text[8000];
    const char *folder = getenv("CAIRN_EXAMPLES");
    cairn_start_options options = CAIRN_START_DEFAULTS;
    CHECK(folder, "CAIRN_EXAMPLES is not set");
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *stream = fopen(path, "r");
    CHECK(stream, "%s cannot be read", path);
    size_t len = fread(text, 1, sizeof text - 1, stream);
    fclose(stream);
    text[len] = '\0';
    wf_open(fw);
    CHECK_DONE(&fw->world,
               cairn_workflow_deploy(fw->world.engine, file, text, NULL, &fw->world.error));
    options.workflow = workflow;
    options.input = input;
    CHECK_DONE(&fw->world, wf_start(fw, &options, NULL));
}

/* Takes the step by its handler and completes it with this output, or reports it dead. */
static void end_step(struct flow_world *fw, const char *handler, const char *step,
                     const char *output)
{
    struct task task = {0};
    CHECK(wf_take_many(fw, "w", handler, 1, &task) == 1, "%s cannot be taken", handler);
    CHECK_STR(task.step, step);
    CHECK_DONE(&fw->world, wf_report(fw, &task, output ? CAIRN_COMPLETE : CAIRN_DEAD,
                                     output ? output : "no good"));
}

#define OUT "{\"out\": 1}"

TEST(hello)
{
    struct flow_world fw;
    begin(&fw, "hello.yaml", "hello", "{\"name\": \"world\"}");
    wf_do(&fw, "greet");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(section_5_3_only_the_branch_that_ran_is_undone)
{
    struct flow_world fw;
    begin(&fw, "rollback-of-a-condition.yaml", "condition_rollback", "{\"count\": 6}");
    end_step(&fw, "OtherHandler", "other_action", OUT);
    end_step(&fw, "NextHandler", "next_action", NULL);
    sg_undo_all(&fw, "next_action other_action");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "parallel_branch:rolled_back check_condition:rolled_back "
                        "next_action:rolled_back else_action:skipped other_action:rolled_back "
                        "parallel_branch_join:skipped");
    wf_close(&fw);
}

TEST(section_5_4_the_undo_stops_at_the_save_point)
{
    struct flow_world fw;
    begin(&fw, "save-point.yaml", "save_point", NULL);
    end_step(&fw, "ReserveFunds", "reserve_funds", OUT);
    end_step(&fw, "ShipOrder", "ship_order", NULL);
    sg_undo_all(&fw, "ship_order");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw,
                   "reserve_funds:completed after_reserve:completed ship_order:rolled_back");
    wf_close(&fw);
}

TEST(section_7_2_1_the_join_waits_for_what_the_conditions_take)
{
    struct flow_world fw;
    begin(&fw, "join-after-conditions.yaml", "dynamic_join", NULL);
    end_step(&fw, "handler", "branch1_step1", "{\"count\": 6}");
    end_step(&fw, "handler", "branch1_next", OUT);
    wf_check_status(&fw, "running");
    end_step(&fw, "handler", "branch2_step1", "{\"count\": 6}");
    end_step(&fw, "handler", "branch2_else", OUT);
    wf_check_status(&fw, "completed");
    sg_check_json(
        wf_instance(&fw)->output,
        "{\"status\": \"success\", \"strategy\": \"all\", "
        "\"completed\": [\"branch1_next\", \"branch2_else\"], \"failed\": [], "
        "\"outputs\": {\"branch1_next\": {\"out\": 1}, \"branch2_else\": {\"out\": 1}}}");
    wf_close(&fw);
}

TEST(section_8_8_a_document_is_approved)
{
    struct flow_world fw;
    begin(&fw, "approval.yaml", "document-approval", NULL);
    end_step(&fw, "document-processor", "process-document", OUT);
    wf_check_steps(&fw, "process-document:completed human-approval:waiting_decision "
                        "approve-document:pending");
    CHECK_DONE(&fw.world, sg_decide(&fw, "human-approval", true));
    end_step(&fw, "approval", "approve-document", OUT);
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(section_11_4_a_compensation_without_attempts_goes_to_the_dlq)
{
    struct flow_world fw;
    begin(&fw, "failed-compensation-to-dlq.yaml", "order-with-failed-refund", NULL);
    end_step(&fw, "payment", "charge-payment", OUT);
    end_step(&fw, "shipping", "ship-order", NULL);
    wf_check_status(&fw, "failed");
    CHECK_STR(sg_record(&fw, "charge-payment").reason, "compensation max retries exceeded");
    wf_close(&fw);
}

TEST(section_11_7_a_payment_is_parked_and_requeued_with_corrected_input)
{
    struct flow_world fw;
    begin(&fw, "dead-letter-queue.yaml", "payment-processing", NULL);
    end_step(&fw, "payment-validator", "validate-payment", OUT);
    end_step(&fw, "payment-processor", "process-payment", NULL);
    wf_check_status(&fw, "dlq");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "process-payment", "{\"status\": \"valid\"}"));
    struct task task;
    CHECK_INT(wf_take_many(&fw, "w", "payment-processor", 1, &task), 1);
    sg_check_json(task.input, "{\"status\": \"valid\"}");
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, OUT));
    end_step(&fw, "notification-service", "notify-user", OUT);
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(section_14_1_the_basic_saga)
{
    struct flow_world fw;
    begin(&fw, "compensation.yaml", "order_saga", NULL);
    end_step(&fw, "ReserveFunds", "reserve_funds", OUT);
    end_step(&fw, "ShipOrder", "ship_order", NULL);
    wf_check_steps(&fw, "reserve_funds:completed ship_order:compensation notify_user:skipped");
    sg_undo_all(&fw, "ship_order reserve_funds");
    wf_check_steps(&fw, "reserve_funds:rolled_back ship_order:rolled_back notify_user:skipped");
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

static const char stocked[] = "{\"inventory_count\": 3, \"product_type\": \"digital\"}";

TEST(section_14_2_the_saga_with_conditions_completes)
{
    struct flow_world fw;
    begin(&fw, "conditions-in-a-saga.yaml", "smart_order_saga", stocked);
    end_step(&fw, "ValidateOrder", "validate_order", stocked);
    end_step(&fw, "ProcessPayment", "process_payment", stocked);
    end_step(&fw, "DeliverDigital", "deliver_digital", OUT);
    end_step(&fw, "ShipItem", "ship_item", OUT);
    end_step(&fw, "NotifyCompletion", "notify_completion", OUT);
    wf_check_status(&fw, "completed");
    CHECK_STR(wf_step(&fw, "restock_item")->status, "skipped");
    CHECK_STR(wf_step(&fw, "prepare_physical")->status, "skipped");
    wf_close(&fw);
}

TEST(section_14_2_only_executed_branches_are_compensated)
{
    struct flow_world fw;
    begin(&fw, "conditions-in-a-saga.yaml", "smart_order_saga", NULL);
    end_step(&fw, "ValidateOrder", "validate_order", "{\"inventory_count\": 0}");
    end_step(&fw, "RestockItem", "restock_item", "{\"product_type\": \"book\"}");
    end_step(&fw, "ProcessPayment", "process_payment", "{\"product_type\": \"book\"}");
    end_step(&fw, "ShipItem", "ship_item", OUT);
    end_step(&fw, "PreparePhysical", "prepare_physical", OUT);
    end_step(&fw, "NotifyCompletion", "notify_completion", NULL);
    sg_undo_all(&fw, "ship_item process_payment restock_item");
    wf_check_status(&fw, "failed");
    CHECK_STR(wf_step(&fw, "deliver_digital")->status, "skipped");
    CHECK_STR(wf_step(&fw, "prepare_physical")->status, "rolled_back");
    wf_close(&fw);
}

TEST(an_order_runs_through_every_kind_of_element)
{
    struct flow_world fw;
    begin(&fw, "every-element.yaml", "order", "{\"total\": 250}");
    end_step(&fw, "billing.reserve.v1", "reserve_funds", "{\"inventory_count\": 1}");
    sg_do(&fw, "pick");
    wf_do(&fw, "invoice"); /* its priority is the higher one */
    wf_do(&fw, "ship");
    sg_do(&fw, "sms");
    sg_do(&fw, "mail");
    CHECK_DONE(&fw.world, sg_decide(&fw, "approval", true));
    wf_check_status(&fw, "waiting_signal");
    wf_signal(&fw, "payment.settled", "{\"amount\": 250}");
    wf_check_current(&fw, "cool_off");
    wf_advance(&fw, 10 * MINUTE_MS);
    sg_do(&fw, "close");
    wf_check_status(&fw, "completed");
    CHECK_STR(wf_step(&fw, "restock")->status, "skipped");
    wf_close(&fw);
}

TEST(an_order_that_is_not_approved_in_time_keeps_what_was_reserved)
{
    struct flow_world fw;
    begin(&fw, "every-element.yaml", "order", NULL);
    end_step(&fw, "billing.reserve.v1", "reserve_funds", "{\"inventory_count\": 0}");
    sg_fail(&fw, "restock"); /* on_failure: continue */
    sg_do(&fw, "ship");
    sg_do(&fw, "invoice");
    sg_do(&fw, "sms");
    sg_do(&fw, "mail");
    wf_advance(&fw, 72 * HOUR_MS);
    sg_undo_all(&fw, "ship");
    wf_check_status(&fw, "failed");
    CHECK_STR(wf_step(&fw, "reserve_funds")->status, "completed"); /* before the save point */
    wf_close(&fw);
}

TEST(a_pipeline_asks_somebody_when_much_is_missing)
{
    struct flow_world fw;
    begin(&fw, "parallel-pipeline.yaml", "data_pipeline", NULL);
    end_step(&fw, "extract.orders.v1", "fetch_orders", OUT);
    end_step(&fw, "extract.prices.v1", "fetch_prices", NULL); /* does without */
    end_step(&fw, "extract.customers.v1", "fetch_customers", OUT);
    end_step(&fw, "transform.merge.v1", "merge", "{\"complete\": 0.5}");
    wf_check_current(&fw, "accept_gaps");
    CHECK_DONE(&fw.world, sg_decide(&fw, "accept_gaps", true));
    end_step(&fw, "warehouse.load.v1", "load", OUT);
    end_step(&fw, "mail.send.v1", "tell_subscribers", NULL);
    end_step(&fw, "reports.refresh.v1", "refresh_dashboards", NULL);
    sg_undo_all(&fw, "load");
    wf_check_status(&fw, "failed");
    CHECK_STR(wf_step(&fw, "merge")->status, "completed");
    wf_close(&fw);
}

TEST(a_journey_takes_the_first_hotel_and_gives_back_what_was_booked)
{
    struct flow_world fw;
    begin(&fw, "any-of-two-services.yaml", "book_journey", NULL);
    end_step(&fw, "flight.book.v1", "flight", OUT);
    end_step(&fw, "hotel.north.book.v1", "hotel_north", NULL);
    end_step(&fw, "hotel.south.book.v1", "hotel_south", OUT);
    CHECK_STR(wf_step(&fw, "car")->status, "skipped");
    end_step(&fw, "journey.confirm.v1", "confirm", NULL);
    sg_undo_all(&fw, "hotel_south hotel_north flight"); /* north was called, too */
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(a_report_waits_for_the_night)
{
    struct flow_world fw;
    begin(&fw, "sleep.yaml", "nightly", NULL);
    sg_do(&fw, "freeze_figures");
    wf_check_nothing_to_take(&fw);
    wf_advance(&fw, 8 * HOUR_MS);
    sg_do(&fw, "build_report");
    sg_fail(&fw, "send_report");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_payment_that_never_settles_is_cancelled)
{
    struct flow_world fw;
    begin(&fw, "wait-for-a-signal.yaml", "payment", "{\"order\": 17, \"amount\": 250}");
    end_step(&fw, "billing.request.v1", "request_payment", OUT);
    wf_advance(&fw, HOUR_MS);
    sg_undo_all(&fw, "request_payment");
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}
