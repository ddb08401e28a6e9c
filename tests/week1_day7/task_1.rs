//! Week 1, day 7, task 1: temperature.

use tiny_llm::week1::sampling::apply_temperature;

use super::{OFF, check_each, check_hand, check_left, fixtures};

#[test]
fn task_1_temperature_divides_the_logits() {
    check_each(&fixtures().case("task_1_temperature/signed"), "temperature", |logits, t| {
        apply_temperature(logits, t as f32);
    });
}

#[test]
fn task_1_temperature_0_keeps_only_the_largest_logit() {
    check_each(&fixtures().case("task_1_temperature/zero"), "temperature", |logits, t| {
        apply_temperature(logits, t as f32);
    });

    let mut negative = [-8.0, -0.5, -3.0];
    apply_temperature(&mut negative, 0.0);
    check_hand(
        "temperature 0, logits −8, −0.5, −3: keep −0.5, which is the largest",
        negative,
        [OFF, -0.5, OFF],
    );

    let mut masked = [OFF, -4.0, OFF];
    apply_temperature(&mut masked, 0.0);
    check_hand(
        "temperature 0, logits −∞, −4, −∞: keep the only token that is not excluded, with its \
         logit",
        masked,
        [OFF, -4.0, OFF],
    );
}

#[test]
fn task_1_temperature_near_0_keeps_every_logit() {
    // 2⁻¹² and 2⁻²⁰, so that the quotients are exact.
    for (temperature, factor) in [(1.0 / 4096.0, 4096.0), (1.0 / 1_048_576.0, 1_048_576.0)] {
        let mut logits = [0.5, -2.0, 1.5, 1.25];
        apply_temperature(&mut logits, temperature);
        check_hand(
            &format!(
                "temperature {temperature:e}, logits 0.5, −2, 1.5, 1.25: this temperature is small \
                 but not 0, so every logit stays"
            ),
            logits,
            [0.5 * factor, -2.0 * factor, 1.5 * factor, 1.25 * factor],
        );
    }
}

#[test]
fn task_1_temperature_0_keeps_the_first_of_equal_zeros() {
    let mut logits = [-1.0, -0.0, 0.0, -0.0];
    apply_temperature(&mut logits, 0.0);
    check_hand(
        "temperature 0, logits −1, −0, 0, −0: −0 and 0 are equal, so keep the first of them",
        logits,
        [OFF, 0.0, OFF, OFF],
    );
}

#[test]
fn task_1_temperature_with_1000_logits() {
    let mut logits: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    apply_temperature(&mut logits, 256.0);
    check_left("temperature 256, logits 0 to 999", &logits, |i| i as f32 / 256.0);
}
