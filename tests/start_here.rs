//! A plain `cargo test` runs this. It prints that nothing was checked, and how to begin.

fn main() {
    let day_chosen = cfg!(any(
        feature = "week1-day1",
        feature = "week1-day2",
        feature = "week1-day3",
        feature = "week1-day4",
        feature = "week1-day5",
        feature = "week1-day6",
        feature = "week1-day7",
        feature = "week2-day1",
        feature = "week2-day2",
        feature = "week2-day3",
        feature = "week2-day4",
        feature = "week2-day5",
        feature = "week2-day6",
        feature = "week2-day7",
        feature = "week3-day1",
        feature = "week3-day2",
        feature = "week3-day3",
        feature = "week3-day4",
        feature = "week3-day5",
        feature = "week3-day6",
        feature = "week3-day7",
        feature = "week4-day1",
        feature = "week4-day2",
        feature = "week4-day3",
        feature = "week4-day4",
        feature = "week4-day5",
        feature = "week4-day6",
        feature = "week4-day7"
    ));
    if !day_chosen {
        println!("{HOW_TO_START}");
    }
}

const HOW_TO_START: &str = "
No day was chosen, so nothing was checked. Each day of the course is a feature:

  cargo course start                          look at this machine, hear a story, see your first task
  cargo course                                where you stand and what is next
  cargo test --features week1-day1            check day 1; red until you have written it
  cargo test --features week1-day1 task_2     check its second task
";
